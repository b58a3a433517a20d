// What a report says of runs that tell little: of one step, one rank, two ranks; of steps that all differ,
// that never settle, that not all ranks have; of files that were cut. It accuses nobody, and says what would
// tell more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/report/text.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

// How long a rank computes in a step; 0: it has no such step, and the others do without it.
using Computes = std::function<Nanoseconds(int step, std::int32_t rank)>;

// In each step every rank computes, then all meet in an all-reduce of 50 µs.
JobBuilder job_of(std::int32_t ranks, int steps, const Computes& computes) {
  JobBuilder job;
  Nanoseconds begin = 0;
  for (int step = 0; step < steps; ++step) {
    std::vector<Nanoseconds> own;
    for (std::int32_t rank = 0; rank < ranks; ++rank) own.push_back(computes(step, rank));
    const Nanoseconds end = begin + *std::max_element(own.begin(), own.end()) + 50'000;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const Nanoseconds ns = own[static_cast<std::size_t>(rank)];
      if (ns == 0) continue;
      job.rank(rank).step(step, begin, end);
      job.rank(rank).compute(begin, begin + ns).launched(begin, begin + 1);
      job.rank(rank).all_reduce(begin + ns, end).launched(begin + 2, begin + 3);
    }
    begin = end;
  }
  return job;
}

Report report_of(const Job& job) {
  AnalysisOptions options;
  options.steady = true;
  Report report = checked_analysis(job, options).report;
  for (const Finding& finding : report.findings) {
    EXPECT_NE(finding.accuses, Accused::rank) << finding.title;
    EXPECT_NE(finding.accuses, Accused::link) << finding.title;
  }
  return report;
}

std::string message(const Report& report, const std::string& code) {
  for (const Warning& warning : report.warnings)
    if (warning.code == code) return warning.message;
  return "no warning " + code;
}

const Finding* find(const Report& report, const std::string& code) {
  for (const Finding& finding : report.findings)
    if (finding.code == code) return &finding;
  return nullptr;
}

// Noise of the ranks' own: of a deviation of `share` of 1 ms.
class Noise {
 public:
  explicit Noise(double share) : share_(share) {}
  Nanoseconds operator()(double scale = 1) {
    return static_cast<Nanoseconds>(1e6 * scale * std::exp(share_ * normal_(random_)));
  }

 private:
  std::mt19937 random_{20261124};
  std::normal_distribution<double> normal_;
  double share_;
};

TEST(LittleKnown, OfOneStepWhoIsLateIsAFactAndNoJudgement) {
  const Report report =
      report_of(job_of(4, 1, [](int, std::int32_t rank) { return rank == 2 ? 900'000 : 600'000; }).build());
  EXPECT_THAT(message(report, "no_steady_steps"), HasSubstr("1 step: too few"));
  EXPECT_THAT(account_lines(report),
              testing::Contains(HasSubstr("Which steps are steady training can't be told of so few")));
  const Finding* const found = find(report, "imbalance");
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->title,
              HasSubstr("one step shows too little to say whether it is one rank again and again"));
  EXPECT_THAT(found->remedy, HasSubstr("record "));
  EXPECT_THAT(found->remedy, HasSubstr(" steps or more"));
}

TEST(LittleKnown, OfFiveStepsIsSaidHowManyWouldTell) {
  const Report report =
      report_of(job_of(2, 5, [](int, std::int32_t rank) { return rank == 1 ? 800'000 : 600'000; }).build());
  EXPECT_THAT(verdict_lines(report),
              testing::Contains(HasSubstr("steps or more would tell whether that is so again and again")));
}

// Alone in its groups there is nobody to wait for, and nothing is unknown.
TEST(LittleKnown, ARankAloneInItsGroupsWaitsForNobody) {
  JobBuilder job;
  const auto self = job.group("default_pg", {0});
  for (int step = 0; step < 8; ++step) {
    const Nanoseconds begin = step * 1'000'000;
    job.rank(0).step(step, begin, begin + 1'000'000);
    job.rank(0).compute(begin, begin + 600'000).launched(begin, begin + 1);
    job.rank(0).all_reduce(begin + 600'000, begin + 900'000).in_group(self).launched(begin + 2, begin + 3);
  }
  EXPECT_EQ(message(report_of(job.build()), "single_rank"), "no warning single_rank");
}

TEST(LittleKnown, OfOneRankNobodyKnowsWhoWaits) {
  const Report report = report_of(job_of(1, 30, [](int, std::int32_t) { return 1'000'000; }).build());
  EXPECT_FALSE(report.lateness.can_tell);
  EXPECT_TRUE(report.blame.empty());
  EXPECT_THAT(message(report, "single_rank"), HasSubstr("rank 0 alone"));
}

TEST(LittleKnown, OneOfTwoRanksIsAlwaysTheLastAndThatProvesNothing) {
  Noise noise(0.1);
  const Report report = report_of(job_of(2, 60, [&](int, std::int32_t) { return noise(); }).build());
  EXPECT_TRUE(report.lateness.can_tell);
  EXPECT_THAT(verdict_lines(report),
              testing::Contains(HasSubstr("No rank is seen to be late throughout: over 60 steps")));
}

// Sequences of any length, the same on all ranks: a step takes one to five times as long as another.
TEST(LittleKnown, StepsThatAllDifferAreAllSteady) {
  Noise noise(0.05);
  std::mt19937 random(3);
  double length = 1;
  const Report report = report_of(job_of(4, 60, [&](int, std::int32_t rank) {
                                    if (rank == 0)
                                      length = 1 + 4 * static_cast<double>(random()) / 4294967296.0;
                                    return noise(length);
                                  }).build());
  ASSERT_TRUE(report.steady);
  EXPECT_EQ(report.steady->steps.size(), 60U);
  EXPECT_GT(report.lateness.steps_to_tell, 60);
  const Finding* const jitter = find(report, "jitter");
  const std::string words = jitter != nullptr ? testing::PrintToString(jitter->evidence)
                                              : testing::PrintToString(verdict_lines(report));
  EXPECT_THAT(words, HasSubstr("would show after about "));
}

TEST(LittleKnown, StepsThatNeverSettleAreSaidToBeSo) {
  const Report report =
      report_of(job_of(2, 40, [](int step, std::int32_t) { return 1'000'000 + 20'000 * step; }).build());
  EXPECT_THAT(message(report, "steps_drift"), HasSubstr("Record until it stays"));
  EXPECT_THAT(account_lines(report), testing::Contains(HasSubstr("The steps do not settle")));
}

TEST(LittleKnown, RanksOfDifferentNumbersOfStepsAreToldOfWhatAllHave) {
  Noise noise(0.02);
  const Report report = report_of(job_of(4, 40, [&](int step, std::int32_t rank) -> Nanoseconds {
                                    return rank == 3 && step >= 12 ? 0 : noise();
                                  }).build());
  EXPECT_THAT(message(report, "steps_differ"),
              HasSubstr("1 rank lacks steps that others have (rank 3: 12 of 40)"));
  EXPECT_EQ(report.lateness.ranks.size(), 3U);
  EXPECT_EQ(report.lateness.steps, 40);
  EXPECT_THAT(verdict_lines(report),
              testing::Contains(HasSubstr("Whether rank 3 is late can't be told: only 12 of 40 steps of it "
                                          "are known. Over the 12 that all ranks have, `lockstep analyze "
                                          "--steps 0:11` would tell.")));
  EXPECT_THAT(verdict_lines(report), testing::Contains(HasSubstr("No other rank is late throughout")));
  const Report whole = report_of(job_of(4, 40, [&](int step, std::int32_t rank) -> Nanoseconds {
                                   return rank == 3 && step == 39 ? 0 : noise();
                                 }).build());
  EXPECT_THAT(message(whole, "steps_differ"), HasSubstr("no warning")) << "the last one was cut";
}

// Of two ranks no other is left to compare with: what there is tells who came last in it, and no more.
TEST(LittleKnown, OfTwoRanksOneWithFewStepsIsSaidThatNobodyCanBeJudged) {
  Noise noise(0.01);
  const Report report = report_of(job_of(2, 60, [&](int step, std::int32_t rank) -> Nanoseconds {
                                    return rank == 1 && step >= 5 ? 0 : noise();
                                  }).build());
  EXPECT_FALSE(report.lateness.can_tell);
  EXPECT_EQ(report.lateness.steps_needed, 10);
  const std::vector<std::string> verdict = verdict_lines(report);
  EXPECT_THAT(verdict, testing::Contains(
                           HasSubstr("Who is late can't be told: only 5 of 60 steps of rank 1 are known. "
                                     "Record at least 10 steps that all ranks have.")));
  EXPECT_THAT(verdict,
              testing::Contains(HasSubstr("Over what was recorded of all ranks, the others wait for rank")));
}

// Its steps look like a warm-up of rank 0, which waits in them: of steady training none of it is known.
TEST(LittleKnown, OfTwoRanksThatNobodyCanJudgeNobodyIsCleared) {
  Noise noise(0.01);
  const Report report =
      report_of(job_of(2, 60, [&](int step, std::int32_t rank) -> Nanoseconds {
                  return rank == 1 && step >= 5 ? 0 : noise(rank == 1 && step < 5 ? 1.6 : 1);
                }).build());
  const std::vector<std::string> verdict = verdict_lines(report);
  EXPECT_THAT(verdict, testing::Contains(HasSubstr("none of 55 steady steps of rank 1 is known")));
  EXPECT_THAT(verdict, testing::Not(testing::Contains(HasSubstr("No rank is waited for"))));
}

TEST(LittleKnown, OneRankOfTwoIsSaidToTellNothingOfWaiting) {
  Job alone = job_of(1, 30, [](int, std::int32_t) { return 5'000'000; }).build();
  alone.world_size = 2;
  alone.ranks_missing = {1};
  const std::vector<std::string> verdict = verdict_lines(report_of(alone));
  EXPECT_THAT(verdict,
              testing::Contains(HasSubstr("1 of 2 ranks left no record: how much of the communication of "
                                          "rank 0 is waiting and how much moves data can't be told. Record "
                                          "all ranks, and read them together.")));
  EXPECT_THAT(verdict, testing::Not(testing::Contains(HasSubstr("No rank is waited for"))));
  EXPECT_THAT(verdict, testing::Not(testing::Contains(HasSubstr("is waiting (0.0 %)"))));
}

// As in dumps of flight recorders: one rank is late by less than times are known to, again and again.
TEST(LittleKnown, OfTimesCoarserThanOperationsNobodyKnowsWhatIsWaiting) {
  const JobBuilder job = job_of(2, 20, [](int, std::int32_t rank) { return rank == 0 ? 100'000 : 130'000; });
  Job coarse = job.build();
  EXPECT_EQ(checked_analysis(coarse).report.waits_blurred_ns, 0);
  for (RankTrace& rank : coarse.ranks) rank.resolution_ns = 1'000;
  EXPECT_EQ(checked_analysis(coarse).report.waits_blurred_ns, 0) << "operations are 50 µs long, at least";
  for (RankTrace& rank : coarse.ranks) rank.resolution_ns = 100'000'000;
  const Report report = checked_analysis(coarse).report;
  EXPECT_EQ(report.waits_blurred_ns, 100'000'000);
  EXPECT_THAT(
      verdict_lines(report),
      testing::Contains(HasSubstr("how much of it is waiting can't be told: times are known to ±100 ms")));
}

TEST(LittleKnown, ARankWhoseFileCannotBeReadIsNotSaidToHaveLeftNone) {
  Job job = job_of(1, 30, [](int, std::int32_t) { return 5'000'000; }).build();
  job.world_size = 2;
  job.ranks_missing = {1};
  job.warnings.push_back({"file_unreadable", "rank 1: nothing of it can be read: …", 1});
  EXPECT_THAT(verdict_lines(report_of(job)),
              testing::Contains(HasSubstr("1 of 2 ranks left no record that can be read: how much")));
  job.warnings.back().rank = kNoRank;  // some other file
  EXPECT_THAT(verdict_lines(report_of(job)),
              testing::Contains(HasSubstr("1 of 2 ranks left no record: how much")));
}

TEST(LittleKnown, FewStepsThatNeverSettleAreSaidToBeSo) {
  const Report report =
      report_of(job_of(2, 12, [](int step, std::int32_t) { return 20'000'000 - 1'000'000 * step; }).build());
  EXPECT_THAT(message(report, "steps_drift"),
              testing::AllOf(HasSubstr("in the first third of the steady ones"),
                             HasSubstr("Record until it stays, 20 steady steps or more")));
  EXPECT_THAT(account_lines(report), testing::Contains(HasSubstr("The steps do not settle")));
}

TEST(LittleKnown, OfARankWhoseFileWasCutNothingIsSaid) {
  Noise noise(0.02);
  Job job = job_of(4, 40, [&](int, std::int32_t) { return noise(); }).build();
  const Nanoseconds end = job.ranks[1].steps.back().end;
  job.ranks[1].lost = {{end / 2, end}};
  const Report report = report_of(job);
  EXPECT_FALSE(report.ranks[1].measures.known);
  EXPECT_THAT(verdict_lines(report), testing::Contains(HasSubstr("The trace of rank 1 is damaged")));
  EXPECT_THAT(verdict_lines(report),
              testing::Contains(HasSubstr("Of rank 1 too little was recorded to tell")));
}

}  // namespace
}  // namespace lockstep::analyzer
