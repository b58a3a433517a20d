// What a late rank does longer: one cause, or several.
#include "analyzer/lateness/late_parts.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyzer/lateness/test_reports.h"

namespace lockstep::analyzer {
namespace {

TEST(LateParts, AreThoseThatAreLongerInMostBlocks) {
  Report report = report_of_steps(std::vector<std::vector<std::int64_t>>(20, {1000, 1000, 1000}));
  for (StepReport& row : report.steps) {
    if (row.rank != 1) continue;
    row.measures.partition[Cause::compute] += 40;
    row.measures.partition[Cause::data_wait] += 30;
    // A great deal, but in two steps of twenty.
    if (row.step == 103 || row.step == 110) row.measures.partition[Cause::host_bound] += 5000;
  }
  const StepTable table = make_step_table(report);
  const std::vector<LatePart> parts = parts_of_lateness(table, 1);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].cause, Cause::compute);
  EXPECT_EQ(parts[0].ns, 40);
  EXPECT_EQ(parts[0].others_ns, 1000);
  EXPECT_EQ(parts[1].cause, Cause::data_wait);
  EXPECT_EQ(parts[1].ns, 30);
  EXPECT_EQ(parts[1].others_ns, 0);
  EXPECT_TRUE(parts_of_lateness(table, 0).empty());
}

// The two steps alone show what is special about them.
TEST(LateParts, OfSomeStepsAreOfTheseAlone) {
  Report report = report_of_steps(std::vector<std::vector<std::int64_t>>(20, {1000, 1000, 1000}));
  for (StepReport& row : report.steps)
    if (row.rank == 1 && (row.step == 103 || row.step == 110))
      row.measures.partition[Cause::host_bound] += 5000;
  const StepTable table = make_step_table(report);
  EXPECT_TRUE(parts_of_lateness(table, 1).empty());
  const std::vector<std::size_t> late{3, 10};
  const std::vector<LatePart> parts = parts_of_lateness(some_steps(table, late), 1);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].cause, Cause::host_bound);
  EXPECT_EQ(parts[0].ns, 5000);
}

}  // namespace
}  // namespace lockstep::analyzer
