#include "viewer/views/imbalance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer {
namespace {

// Ranks compute for 400, 400, 700 and 500 ns a step; the all-reduce ends 900 ns after the first compute.
TEST(Imbalance, TheIdealIsTheMeanOfComputeWithoutAnyWaiting) {
  const auto scene = scene_of(synthetic_job());
  const auto found = imbalance_of(*scene, 1);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->mean_compute_ns, 500);
  EXPECT_EQ(found->ideal_ns, 500);
  EXPECT_EQ(found->real_ns, kSyntheticStep);
  // (300 + 300 + 0 + 200) / 4 of waiting go.
  EXPECT_EQ(found->bars[0].total_ns - found->balanced_ns, 200);
  ASSERT_EQ(found->ranks.size(), 4u);
  EXPECT_EQ(found->ranks[2].parts[analyzer::Cause::compute], 700);
}

TEST(Imbalance, OfTheRunIsThatOfSteadyTraining) {
  const analyzer::Job job = synthetic_job();
  analyzer::Analysis analysis = analyzer::checked_analysis(job);
  analysis.report.steady = analyzer::SteadyReport{{1, 2}, {{0, 0, "warm-up"}}, analysis.report.ranks};
  for (analyzer::RankReport& rank : analysis.report.steady->ranks) rank.measures.window_ns = 777;
  EXPECT_EQ(imbalance_of(*scene_of(job, analysis), std::nullopt)->real_ns, 777);
}

TEST(Imbalance, SaysHowMuchSooner) {
  EXPECT_THAT(sentence(*imbalance_of(*scene_of(synthetic_job()), 1)),
              testing::HasSubstr("done 200 ns sooner (16.7 %)."));
}

// Of one rank of four: no zero where nothing is known.
TEST(Imbalance, WithoutTheOthersNobodyKnows) {
  analyzer::Job job = synthetic_job();
  job.ranks.resize(1);
  job.ranks_missing = {1, 2, 3};
  const auto found = imbalance_of(*scene_of(job), std::nullopt);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->waits_known);
  EXPECT_EQ(found->bars.size(), 2u);
  EXPECT_THAT(sentence(*found), testing::HasSubstr("nobody can tell"));
  EXPECT_THAT(sentence(*found), testing::Not(testing::HasSubstr("sooner (")));
}

TEST(Imbalance, ABubbleIsPartlyTheSchedules) {
  Imbalance imbalance;
  ImbalanceBar real{"real", {}, 1'000};
  real.parts[analyzer::Cause::compute] = 600;
  real.parts[analyzer::Cause::pipeline_bubble] = 400;
  imbalance.bars = {real};
  imbalance.balanced_ns = 600;
  EXPECT_THAT(sentence(imbalance),
              testing::AllOf(testing::HasSubstr("400 ns sooner (40.0 %)"),
                             testing::HasSubstr("; 400 ns of that is the pipeline's bubble")));
}

TEST(Imbalance, OfTheWholeRunAndOfAStepThatIsNotThere) {
  const auto scene = scene_of(synthetic_job());
  EXPECT_TRUE(imbalance_of(*scene, std::nullopt).has_value());
  EXPECT_FALSE(imbalance_of(*scene, 99).has_value());
}

}  // namespace
}  // namespace lockstep::viewer
