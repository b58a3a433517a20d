// The file of results: nothing that was counted is lost, and nothing of other jobs is taken for it.
#include "tests/accuracy/cell_table.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/temporary_folder.h"

namespace lockstep::accuracy {
namespace {

nlohmann::json row(int ranks, int steps, int jobs, int accused) {
  return {{"fault", "none"}, {"noise_level", 0.0}, {"effect", 0.0}, {"levelled", true},
          {"ranks", ranks},  {"steps", steps},     {"jobs", jobs},  {"accused", accused}};
}

class CellTableTest : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "null.json";

  void count_two_cells() {
    CellTable table("null", "tuning", 7);
    table.put(row(8, 20, 500, 2));
    table.put(row(2, 50, 500, 1));
    ASSERT_TRUE(table.write(file_));
  }
};

TEST_F(CellTableTest, ARunOfOneCellKeepsTheOthers) {
  count_two_cells();
  CellTable table("null", "tuning", 7);
  table.resume(file_);
  table.put(row(64, 20, 100, 0));
  ASSERT_TRUE(table.write(file_));

  CellTable again("null", "tuning", 7);
  again.resume(file_);
  EXPECT_EQ(again.jobs(), 1100);
  EXPECT_EQ(again.accused(), 3);
  ASSERT_NE(again.find(row(8, 20, 0, 0)), nullptr);
  EXPECT_EQ(again.find(row(8, 20, 0, 0))->at("accused"), 2);
  EXPECT_EQ(again.find(row(8, 21, 0, 0)), nullptr);
}

TEST_F(CellTableTest, ACellThatIsCountedAgainStandsOnce) {
  count_two_cells();
  CellTable table("null", "tuning", 7);
  table.resume(file_);
  table.put(row(8, 20, 1000, 3));
  EXPECT_EQ(table.jobs(), 1500);
  EXPECT_EQ(table.accused(), 4);
}

TEST_F(CellTableTest, ResultsOfOtherJobsAreNotTaken) {
  count_two_cells();
  for (CellTable table : {CellTable("planted", "tuning", 7), CellTable("null", "held_out", 7),
                          CellTable("null", "tuning", 8)}) {
    table.resume(file_);
    EXPECT_EQ(table.jobs(), 0);
  }
}

TEST_F(CellTableTest, AFileThatIsNoTableAddsNothing) {
  for (const char* text : {"", "[]", "{\"cells\": ", "null"}) {
    std::ofstream(file_) << text;
    CellTable table("null", "tuning", 7);
    table.resume(file_);
    EXPECT_EQ(table.jobs(), 0) << text;
  }
}

TEST_F(CellTableTest, AFolderThatIsMissingIsSaid) {
  EXPECT_FALSE(CellTable("null", "tuning", 7).write(folder_.path() / "missing" / "null.json"));
}

}  // namespace
}  // namespace lockstep::accuracy
