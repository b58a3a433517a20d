// Where a job's warm-up ends.
#include "analyzer/steady_steps.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

std::vector<StepLength> steps_of(const std::vector<std::int64_t>& lengths) {
  std::vector<StepLength> steps;
  for (const std::int64_t ns : lengths) steps.push_back({static_cast<std::int64_t>(steps.size()) + 10, ns});
  return steps;
}

TEST(SteadySteps, BeginAfterTheLongOnes) {
  EXPECT_EQ(first_steady_step(steps_of({900, 300, 100, 100, 101, 99})), 12);
  EXPECT_EQ(first_steady_step(steps_of({151, 100, 100, 100})), 11);
  EXPECT_EQ(first_steady_step(steps_of({150, 100, 100, 100})), std::nullopt)
      << "half as long again, not more";
}

TEST(SteadySteps, ALongStepLaterIsNoWarmUp) {
  EXPECT_EQ(first_steady_step(steps_of({100, 900, 100, 100})), std::nullopt);
}

TEST(SteadySteps, NeverMoreThanHalf) {
  EXPECT_EQ(first_steady_step(steps_of({900, 900, 900, 100, 100, 100})), 13);
  EXPECT_EQ(first_steady_step(steps_of({900, 800, 700, 600, 100, 100})), std::nullopt)
      << "the median is one of the long ones";
}

TEST(SteadySteps, OfFewNobodyCanTell) {
  EXPECT_EQ(first_steady_step(steps_of({900, 100, 100})), std::nullopt);
  EXPECT_EQ(first_steady_step({}), std::nullopt);
}

// Steps 0 to 5 of two ranks; of step 0 rank 1 makes 5000 ns.
JobBuilder job_with_warm_up() {
  JobBuilder job;
  for (int rank = 0; rank < 2; ++rank) {
    Nanoseconds begin = 0;
    for (int step = 0; step < 6; ++step) {
      const Nanoseconds length = step == 0 && rank == 1 ? 5000 : 1000;
      job.rank(rank).step(step, begin, begin + length);
      job.rank(rank).compute(begin, begin + length - 10).launched(begin, begin + 1);
      begin += step == 0 ? 5000 : 1000;
    }
  }
  return job;
}

TEST(SteadySteps, AnalysisLeavesWarmUpOut) {
  const Job job = job_with_warm_up().build();
  AnalysisOptions options;
  options.skip_warm_up = true;
  const Result<Analysis> analysis = analyze(job, options);
  ASSERT_TRUE(analysis.ok()) << analysis.error().message;
  const Report& report = analysis.value().report;
  EXPECT_EQ(report.first_steady_step, 1);
  ASSERT_EQ(report.steps.size(), 10U);
  EXPECT_EQ(report.steps.front().step, 1);
  EXPECT_EQ(report.steps_present.size(), 6U) << "what there is stays said";
  options.first_step = 3;
  EXPECT_EQ(analyze(job, options).value().report.steps.front().step, 3);
}

TEST(SteadySteps, WithoutWarmUpNothingIsLeftOut) {
  JobBuilder job;
  for (int step = 0; step < 6; ++step) {
    job.rank(0).step(step, step * 100, step * 100 + 100);
    job.rank(0).compute(step * 100, step * 100 + 90).launched(step * 100, step * 100 + 1);
  }
  AnalysisOptions options;
  options.skip_warm_up = true;
  const Report report = analyze(job.build(), options).value().report;
  EXPECT_EQ(report.first_steady_step, std::nullopt);
  EXPECT_EQ(report.steps.size(), 6U);
}

TEST(SteadySteps, WithoutStepMarksItIsAnError) {
  JobBuilder job;
  job.rank(0).compute(0, 10);
  AnalysisOptions options;
  options.skip_warm_up = true;
  const Result<Analysis> analysis = analyze(job.build(), options);
  ASSERT_FALSE(analysis.ok());
  EXPECT_NE(analysis.error().message.find("no step marks"), std::string::npos) << analysis.error().message;
}

}  // namespace
}  // namespace lockstep::analyzer
