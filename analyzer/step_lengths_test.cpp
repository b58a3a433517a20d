// What a step holds beside training, and which steps that leaves out.
#include "analyzer/step_lengths.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/steady_steps.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kIndexOfEvaluation = static_cast<std::size_t>(Phase::evaluation);

TEST(StepLengths, AStepBesideAnothersEvaluationIsLeftOutIfItIsLonger) {
  std::vector<StepLength> steps;
  for (std::int64_t number = 0; number < 6; ++number) steps.push_back({number, 100, {}});
  StepLength& last = steps.back();
  last.ns = 200;
  last.phase_of_any_ns[kIndexOfEvaluation] = 60;
  EXPECT_TRUE(steps_with(steps, Phase::evaluation).holds.back()) << "a rank did so in the step itself";
  last.beside_others_ns[kIndexOfEvaluation] = 129;
  EXPECT_FALSE(steps_with(steps, Phase::evaluation).holds.back()) << "no rank did, and none waited";
  last.beside_others_ns[kIndexOfEvaluation] = 130;
  EXPECT_TRUE(steps_with(steps, Phase::evaluation).holds.back()) << "a rank waited for it";
}

// Seen: a last step like all others was left out for what the other rank evaluated behind its own.
TEST(StepLengths, WhatARankDoesBehindItsLastStepLeavesNoneOut) {
  const auto left_out = [](Nanoseconds evaluation) {
    JobBuilder builder;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      for (int step = 0; step < 10; ++step) {
        const Nanoseconds begin = step * 1000 + rank * 300,
                          end = begin + (step == 9 && rank == 0 ? 1200 : 1000);
        builder.rank(rank).step(step, begin, end);
        builder.rank(rank).compute(begin + 10, end).launched(begin + 1, begin + 2);
      }
    }
    // Rank 0's steps end at 10.2 µs, rank 1's last one begins at 9.3 and ends at 10.3 µs.
    builder.rank(0).host_range(evaluation, evaluation + 700, "evaluation");
    AnalysisOptions options;
    options.steady = true;
    return checked_analysis(builder.build(), options).report.steady->left_out.size();
  };
  EXPECT_EQ(left_out(10'210), 0U) << "rank 1's step is no longer than others";
  EXPECT_EQ(left_out(10'100), 1U) << "rank 0's own step has some of it";
}

}  // namespace
}  // namespace lockstep::analyzer
