#include "analyzer/report/lacking_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/report/text.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

// Ranks with the first so many steps each.
Report report_of_steps(const std::vector<std::int64_t>& counts) {
  Report report;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    RankReport& one = report.ranks.emplace_back();
    one.rank = static_cast<std::int32_t>(rank);
    report.ranks_present.push_back(one.rank);
    for (std::int64_t step = 0; step < counts[rank]; ++step) {
      StepReport& of_rank = report.steps.emplace_back();
      of_rank.step = step;
      of_rank.rank = one.rank;
    }
  }
  report.lateness.steps_needed = 10;
  return report;
}

std::string words(const Report& report) {
  const LackingSteps lacking = ranks_lacking_steps(report);
  if (!lacking.any()) return "";
  const LackingStepsWords said = words_for(lacking, report);
  return said.what + said.why;
}

TEST(LackingSteps, ATenthMayLack) {
  EXPECT_EQ(words(report_of_steps({60, 60, 54})), "");
  EXPECT_THAT(words(report_of_steps({60, 60, 53})), HasSubstr("only 53 of 60 steps of rank 2 are known."));
  EXPECT_EQ(words(report_of_steps({60})), "") << "alone, nobody is there to be late";
  EXPECT_EQ(words(report_of_steps({0, 0})), "") << "without steps all are alike";
}

TEST(LackingSteps, WhetherOthersAreJudgedIsSaid) {
  Report report = report_of_steps({60, 60, 5});
  EXPECT_EQ(
      words(report),
      "Who is late can't be told: only 5 of 60 steps of rank 2 are known. Record at least 10 steps that all ranks have.");
  report.lateness.can_tell = true;
  EXPECT_THAT(words(report), HasSubstr("Whether rank 2 is late can't be told: only 5 of 60 steps of it are"));
}

TEST(LackingSteps, ADamagedTraceIsSaidElsewhere) {
  Report report = report_of_steps({60, 60, 5});
  report.ranks[2].damaged = true;
  EXPECT_EQ(words(report), "");
}

TEST(LackingSteps, SeveralAreCountedFromTheFewest) {
  Report report = report_of_steps({60, 60, 5, 0});
  report.lateness.can_tell = true;
  EXPECT_THAT(words(report),
              HasSubstr("Whether ranks 2 and 3 are late can't be told: only 0 to 5 of 60 steps of each are"));
}

TEST(LackingSteps, NoneIsNoNumber) {
  EXPECT_THAT(words(report_of_steps({60, 60, 0})), HasSubstr("told: none of 60 steps of rank 2 is known."));
  EXPECT_THAT(words(report_of_steps({1, 0})), HasSubstr("told: the only step of rank 1 is not known."));
}

// A server of parameters or a teacher beside the ranks that train: no recording gives it steps.
TEST(LackingSteps, ARankThatTrainsNothingIsNotToRecordMore) {
  EXPECT_THAT(
      words(report_of_steps({60, 60, 0, 0})),
      testing::EndsWith(" A rank that trains nothing makes none; else record at least 10 steps that all "
                        "ranks have."));
}

TEST(LackingSteps, WhereEnoughAreRecordedOfAllItSaysWhichTheyAre) {
  EXPECT_THAT(words(report_of_steps({60, 60, 12})),
              HasSubstr("Over the 12 that all ranks have, `lockstep analyze --steps 0:11` would tell."));
}

TEST(LackingSteps, OnlySteadyStepsCount) {
  Report report = report_of_steps({60, 60, 10});
  report.steady.emplace();
  for (std::int64_t step = 2; step < 60; ++step) report.steady->steps.push_back(step);
  report.steady->left_out.push_back({0, 1, "warm-up"});
  EXPECT_THAT(words(report), HasSubstr("only 8 of 58 steady steps of rank 2 are known."));
}

}  // namespace
}  // namespace lockstep::analyzer
