#include "analyzer/operators/part_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PartTable : public testing::Test {
 protected:
  Part part(const std::string& module, const std::string& operation) {
    return {module.empty() ? 0 : strings_.intern(module), operation.empty() ? 0 : strings_.intern(operation)};
  }

  StringTable strings_;
};

// Two steps, three ranks: rank [0] takes 300 longer a step in layers.1, of it 290 in one operator.
TEST_F(PartTable, HasARowForEachModuleThatAddsUp) {
  const std::vector<PartTimes> ranks{{{part("layers.0", "aten::linear"), {100, 110}},
                                      {part("layers.1", "aten::linear"), {390, 400}},
                                      {part("layers.1", ""), {20, 20}},
                                      {part("", "aten::item"), {5, 5}}},
                                     {{part("layers.0", "aten::linear"), {100, 100}},
                                      {part("layers.1", "aten::linear"), {100, 110}},
                                      {part("layers.1", ""), {10, 10}}},
                                     {{part("layers.0", "aten::linear"), {120, 120}},
                                      {part("layers.1", "aten::linear"), {104, 106}},
                                      {part("layers.1", ""), {10, 10}},
                                      {part("", "aten::item"), {9, 9}}}};
  const ComparedParts table = table_of_parts(ranks, strings_, 2);
  EXPECT_EQ(table.steps, 2);
  EXPECT_EQ(table.others, 2);
  EXPECT_THAT(table.rows, ElementsAre(ComparedPart{"layers.1", "aten::linear", false, 830, 110 + 116},
                                      // Lower medians of two: the smaller ones.
                                      ComparedPart{"", "aten::item", false, 10, 0},
                                      ComparedPart{"layers.0", "aten::linear", false, 210, 200}));
  EXPECT_EQ(name_of(table.rows[0], table), "layers.1");
  EXPECT_EQ(name_of(table.rows[1], table), "in no module");
}

// Both take longer by more than 0.6 of the module's excess: a third one takes less.
TEST_F(PartTable, NamesTheOperatorThatHoldsMost) {
  const std::vector<PartTimes> ranks{{{part("head", "aten::add"), {170}},
                                      {part("head", "aten::mm"), {190}},
                                      {part("head", "aten::sum"), {40}}},
                                     {{part("head", "aten::add"), {100}},
                                      {part("head", "aten::mm"), {100}},
                                      {part("head", "aten::sum"), {100}}}};
  EXPECT_THAT(table_of_parts(ranks, strings_, 1).rows,
              ElementsAre(ComparedPart{"head", "aten::mm", false, 400, 300}));
}

TEST_F(PartTable, IsOfOperatorsWhereNoModuleIsKnown) {
  const std::vector<PartTimes> ranks{{{part("", "aten::mm"), {70}}, {part("", "aten::add"), {10}}},
                                     {{part("", "aten::mm"), {50}}, {part("", "aten::add"), {11}}}};
  const ComparedParts table = table_of_parts(ranks, strings_, 1);
  EXPECT_THAT(table.rows, ElementsAre(ComparedPart{"", "aten::mm", false, 70, 50},
                                      ComparedPart{"", "aten::add", false, 10, 11}));
  EXPECT_EQ(name_of(table.rows[0], table), "aten::mm");
}

TEST_F(PartTable, PutsWhatIsLeftIntoOneRow) {
  std::vector<PartTimes> ranks(2);
  std::int64_t sum = 0;
  for (int layer = 0; layer < 20; ++layer) {
    const Part one = part("layers." + std::to_string(layer), "aten::mm");
    ranks[0][one] = {1000 + layer};
    ranks[1][one] = {1000};
    sum += 1000 + layer;
  }
  const ComparedParts table = table_of_parts(ranks, strings_, 1);
  ASSERT_EQ(table.rows.size(), kMaxPartRows + 1);
  EXPECT_EQ(table.rows[0], (ComparedPart{"layers.19", "aten::mm", false, 1019, 1000}));
  EXPECT_EQ(table.rows[7].module, "layers.12");
  EXPECT_EQ(table.rows[8], (ComparedPart{"", "", true, 12 * 1000 + 66, 12 * 1000}));
  EXPECT_EQ(name_of(table.rows[8], table), "the rest");
  EXPECT_EQ(std::accumulate(table.rows.begin(), table.rows.end(), std::int64_t{0},
                            [](std::int64_t all, const ComparedPart& row) { return all + row.own_ns; }),
            sum);
}

TEST_F(PartTable, ComparesNothingWithOneself) {
  const std::vector<PartTimes> alone{{{part("head", ""), {70}}}};
  EXPECT_THAT(table_of_parts(alone, strings_, 1).rows, IsEmpty());
}

}  // namespace
}  // namespace lockstep::analyzer
