// Which steps are steady training, and a report over them.
#include "analyzer/steady_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/model/warns_of.h"
#include "analyzer/report/json.h"
#include "analyzer/report/text.h"
#include "analyzer/restrict_report.h"
#include "analyzer/steady_view.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

std::vector<StepLength> steps_of(const std::vector<std::int64_t>& lengths) {
  std::vector<StepLength> steps;
  for (const std::int64_t ns : lengths)
    steps.push_back({static_cast<std::int64_t>(steps.size()) + 10, ns, {}});
  return steps;
}

// "10-11 warm-up, 17 checkpoint"; "none"; "?" where nobody can tell.
std::string left_out(const std::vector<StepLength>& steps) {
  const std::optional<SteadyChoice> choice = choose_steady_steps(steps);
  if (!choice) return "?";
  std::string text;
  std::size_t count = choice->steps.size();
  for (const StepsLeftOut& out : choice->left_out) {
    text += (text.empty() ? "" : ", ") + std::to_string(out.first) + "-" + std::to_string(out.last) + " " +
            out.reason;
    count += static_cast<std::size_t>(out.last - out.first) + 1;
  }
  EXPECT_EQ(count, steps.size());
  return text.empty() ? "none" : text;
}

TEST(SteadySteps, BeginAfterTheLongOnes) {
  EXPECT_EQ(left_out(steps_of({900, 300, 100, 100, 101, 99})), "10-11 warm-up");
  EXPECT_EQ(left_out(steps_of({151, 100, 100, 100})), "10-10 warm-up");
  EXPECT_EQ(left_out(steps_of({125, 100, 100, 100})), "none") << "of few steps half as long again";
  EXPECT_EQ(left_out(steps_of({900, 100, 700, 100, 100, 101, 99, 100})), "10-12 warm-up")
      << "compiled anew for the third";
}

// As recorded of a job whose second step was long as well, and as long as two later ones.
TEST(SteadySteps, AStepThatTowersAboveAllIsWarmUpWhateverFollowsIt) {
  std::vector<std::int64_t> lengths{591, 38, 23, 23, 31, 18, 15, 18, 26, 30, 27, 29, 23, 18, 21,
                                    20,  36, 29, 13, 22, 42, 23, 15, 20, 16, 27, 27, 23, 22, 14,
                                    20,  26, 26, 24, 26, 15, 15, 14, 16, 17, 14, 17, 17, 14, 18,
                                    16,  15, 14, 18, 17, 14, 14, 14, 18, 26, 38, 25, 16, 14, 11};
  EXPECT_EQ(left_out(steps_of(lengths)), "10-10 warm-up");
  lengths[0] = 70;  // not twice as long as the others that are long
  EXPECT_EQ(left_out(steps_of(lengths)), "none");
}

TEST(SteadySteps, ALongStepLaterIsNoWarmUp) {
  EXPECT_EQ(left_out(steps_of({100, 900, 100, 100})), "none");
  EXPECT_EQ(left_out(steps_of({100, 100, 100, 100, 100, 900, 100, 100})), "none");
}

TEST(SteadySteps, NeverMoreThanHalf) {
  EXPECT_EQ(left_out(steps_of({900, 900, 900, 100, 100, 100})), "10-12 warm-up");
  EXPECT_EQ(left_out(steps_of({900, 800, 700, 600, 100, 100})), "none") << "it is slow for that long";
  std::vector<std::int64_t> slow(100, 100);
  std::fill(slow.begin(), slow.begin() + 40, 200);
  EXPECT_EQ(left_out(steps_of(slow)), "none") << "nor of many steps more than a third";
  std::fill(slow.begin() + 30, slow.end(), 100);
  EXPECT_EQ(left_out(steps_of(slow)), "10-39 warm-up");
}

TEST(SteadySteps, OfFewNobodyCanTell) {
  EXPECT_EQ(left_out(steps_of({900, 100, 100})), "?");
  EXPECT_EQ(left_out({}), "?");
}

// Seen beside compilers that ended soon: 6 s of waiting for cores were called warm-up, and cores were not
// said to be short.
TEST(SteadySteps, WhatWaitsForCoresIsNoWarmUp) {
  std::vector<StepLength> steps = steps_of({900, 300, 280, 100, 100, 100, 100, 100});
  EXPECT_EQ(left_out(steps), "10-12 warm-up");
  steps[1].core_wait_ns = 200;
  steps[2].core_wait_ns = 180;
  EXPECT_EQ(left_out(steps), "10-10 warm-up");
  steps[0].core_wait_ns = 790;
  EXPECT_EQ(left_out(steps), "none");
}

void hold(StepLength& step, Phase phase, std::int64_t ns) {
  step.phase_of_any_ns[static_cast<std::size_t>(phase)] = ns;
  step.counted_of_any_ns[static_cast<std::size_t>(phase)] = ns;
}

TEST(SteadySteps, ARangeExplainsWhatIsLeftOut) {
  std::vector<StepLength> steps = steps_of({100, 100, 100, 500, 100, 100, 900, 100, 101, 104});
  hold(steps[3], Phase::checkpoint, 400);
  hold(steps[9], Phase::evaluation, 5);
  EXPECT_EQ(left_out(steps), "13-13 checkpoint, 19-19 evaluation") << "step 16 is slow, and nothing else";
  hold(steps[9], Phase::evaluation, 4);
  EXPECT_EQ(left_out(steps), "13-13 checkpoint");
  hold(steps[3], Phase::evaluation, 401);
  EXPECT_EQ(left_out(steps), "13-13 evaluation") << "what takes longest is the reason";
  steps[3].counted_of_any_ns[static_cast<std::size_t>(Phase::evaluation)] = 399;
  EXPECT_EQ(left_out(steps), "13-13 checkpoint") << "in the evaluation others waited for the checkpoint";
  hold(steps[3], Phase::evaluation, 0);
  for (StepLength& step : steps) hold(step, Phase::checkpoint, 40);
  EXPECT_EQ(left_out(steps), "none") << "all of them save: that is how this loop is";
}

TEST(SteadySteps, CompilationIsNamed) {
  std::vector<StepLength> steps = steps_of({9000, 300, 100, 100, 100, 100});
  hold(steps[0], Phase::compilation, 8000);
  EXPECT_EQ(left_out(steps), "10-10 compilation, 11-11 warm-up");
}

TEST(SteadySteps, StartUpInTheMiddleIsNamedWhereItIsMostOfAStep) {
  std::vector<StepLength> steps = steps_of({100, 100, 100, 1000, 100, 100});
  hold(steps[3], Phase::start_up, 501);
  EXPECT_EQ(left_out(steps), "13-13 start-up");
  hold(steps[3], Phase::start_up, 500);
  EXPECT_EQ(left_out(steps), "none");
}

// Noise as jobs have it: the logarithm of a step's length is autocorrelated and skewed, with bursts.
TEST(SteadySteps, StationaryNoiseHasNoWarmUp) {
  std::mt19937 random(20261123);
  std::normal_distribution<double> normal;
  int found = 0;
  constexpr int kRuns = 2000;
  for (int run = 0; run < kRuns; ++run) {
    const std::size_t count = std::vector<std::size_t>{8, 20, 50, 200}[static_cast<std::size_t>(run % 4)];
    const double sigma = std::vector<double>{0.01, 0.05, 0.2}[static_cast<std::size_t>(run % 3)];
    std::vector<std::int64_t> lengths;
    double state = normal(random);
    for (std::size_t i = 0; i < count; ++i) {
      state = 0.6 * state + 0.8 * normal(random);
      const double burst = normal(random) > 1.9 ? 0.5 : 0;
      lengths.push_back(static_cast<std::int64_t>(1e8 * std::exp(sigma * state + burst)));
    }
    if (left_out(steps_of(lengths)) != "none") ++found;
  }
  EXPECT_LE(found, kRuns * 2 / 100);
}

// And where there is one, it is found in the same noise.
TEST(SteadySteps, WarmUpIsFoundInNoise) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  int found = 0;
  constexpr int kRuns = 500;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < 40; ++i)
      lengths.push_back(static_cast<std::int64_t>((i < 3 ? 3e8 : 1e8) * std::exp(0.05 * normal(random))));
    if (left_out(steps_of(lengths)) == "10-12 warm-up") ++found;
  }
  EXPECT_GE(found, kRuns * 99 / 100);
}

// Steps 0 to 5 of two ranks. Step 0 takes 5000 ns, rank 1 computes all of it and rank 0 waits; in the others
// nobody waits.
JobBuilder job_with_warm_up() {
  JobBuilder job;
  const std::uint32_t group = job.group("world", {0, 1});
  for (int rank = 0; rank < 2; ++rank) {
    job.rank(rank).all_reduce(-50, -40).in_group(group).launched(-50, -49);
    Nanoseconds begin = 0;
    for (int step = 0; step < 6; ++step) {
      const Nanoseconds length = step == 0 ? 5000 : 1000;
      const Nanoseconds computed = step == 0 && rank == 0 ? 100 : length - 100;
      job.rank(rank).step(step, begin, begin + length);
      job.rank(rank).compute(begin, begin + computed).launched(begin, begin + 1);
      job.rank(rank)
          .all_reduce(begin + computed, begin + length)
          .in_group(group)
          .sequence(step)
          .launched(begin + 1, begin + 2);
      begin += length;
    }
  }
  return job;
}

Report steady_report(const Job& job) {
  AnalysisOptions options;
  options.steady = true;
  return checked_analysis(job, options).report;
}

// Rank 1 compiles at the end of step 5, rank 0 is in step 6 by then, and meets it there.
TEST(SteadySteps, WhoWaitsForARankThatCompilesIsNotSteadyEither) {
  JobBuilder builder;
  const std::uint32_t group = builder.group("world", {0, 1});
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    Nanoseconds begin = 0;
    for (int step = 0; step < 10; ++step) {
      const Nanoseconds own = step == 5 && rank == 1 ? 6000 : 1000;
      const Nanoseconds length = step == 6 && rank == 0 ? 6000 : own;
      RankBuilder& on = builder.rank(rank);
      on.step(step, begin, begin + length);
      on.compute(begin + 10, begin + 900).launched(begin + 1, begin + 2);
      on.all_reduce(begin + 900, begin + length)
          .in_group(group)
          .sequence(step)
          .launched(begin + 3, begin + 4);
      if (own > 1000) on.host_range(begin + 1000, begin + 6000, "compilation: torch.compile");
      // Else it would seem to wait for the other in its compilation.
      if (own > 1000) on.compute(begin + 1000, begin + 5900).launched(begin + 3, begin + 4);
      begin += length;
    }
  }
  const Report report = steady_report(builder.build());
  ASSERT_TRUE(report.steady);
  ASSERT_EQ(report.steady->left_out.size(), 1U);
  const StepsLeftOut& out = report.steady->left_out[0];
  EXPECT_EQ(out.first, 5);
  EXPECT_EQ(out.last, 6);
  EXPECT_EQ(out.reason, "compilation");
  EXPECT_EQ(out.reason_ns, 5000) << "rank 0 compiles nothing";
  EXPECT_EQ(out.rank, 1);
}

// Seen of an evaluation of 254 ms that lay in step 14 of one rank and in step 15 of the other: 498 ms were
// said.
TEST(SteadySteps, WhatLiesInAnotherStepOfEachRankCountsOnce) {
  JobBuilder builder;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    for (int step = 0; step < 12; ++step) {
      // Rank 1 is a step behind in its numbers: what is its step 6 is the other's step 5.
      const Nanoseconds begin = (step - rank) * 1000 + 2000;
      builder.rank(rank).step(step, begin, begin + 1000);
      builder.rank(rank).compute(begin + 10, begin + 1000).launched(begin + 1, begin + 2);
    }
    builder.rank(rank).host_range(7100, 7600 + rank * 10, "evaluation");
  }
  const Report report = steady_report(builder.build());
  ASSERT_TRUE(report.steady);
  ASSERT_EQ(report.steady->left_out.size(), 1U);
  const StepsLeftOut& out = report.steady->left_out[0];
  EXPECT_EQ(out.first, 5);
  EXPECT_EQ(out.last, 6);
  EXPECT_EQ(out.reason_ns, 510);
  EXPECT_EQ(out.rank, std::nullopt);
}

TEST(SteadySteps, WhatAllDoIsNoRanksOwn) {
  JobBuilder builder;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    for (int step = 0; step < 10; ++step) {
      builder.rank(rank).step(step, step * 1000, step * 1000 + 1000);
      builder.rank(rank)
          .compute(step * 1000 + 10, step * 1000 + 1000)
          .launched(step * 1000 + 1, step * 1000 + 2);
      if (step == 5) builder.rank(rank).host_range(5100, 5500 + rank * 100, "checkpoint");
    }
  }
  const Report report = steady_report(builder.build());
  ASSERT_EQ(report.steady->left_out.size(), 1U);
  EXPECT_EQ(report.steady->left_out[0].reason_ns, 600) << "of the rank that takes longest";
  EXPECT_EQ(report.steady->left_out[0].rank, std::nullopt);
}

TEST(SteadySteps, AReportIsOverThem) {
  const Job job = job_with_warm_up().build();
  const Report report = steady_report(job);
  ASSERT_TRUE(report.steady.has_value());
  EXPECT_EQ(report.steady->steps, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  ASSERT_EQ(report.steady->left_out.size(), 1U);
  EXPECT_EQ(report.steady->left_out[0].ns, 5000);
  EXPECT_EQ(report.ranks[0].measures.window_ns, 10050) << "ranks[] is over the whole window";
  EXPECT_EQ(report.steady->ranks[0].measures.window_ns, 5000);
  EXPECT_EQ(report.steady->ranks[0].measures.collective_wait_ns, 0);
  EXPECT_EQ(report.steps.size(), 12U);
  EXPECT_EQ(report.collectives.size(), 7U);
  EXPECT_TRUE(report.blame.empty()) << "nobody is waited for once it trains";
  ASSERT_EQ(report.groups.size(), 1U);
  EXPECT_EQ(report.groups[0].operations[0].count, 5);
  EXPECT_EQ(report.account.spent[Spending::warm_up], 10000);
  EXPECT_EQ(report.account.spent[Spending::steady], 10000);

  const Report all = checked_analysis(job).report;
  EXPECT_FALSE(all.steady.has_value());
  EXPECT_EQ(report.not_steady, std::vector<std::int64_t>{0});
  EXPECT_EQ(all.not_steady, report.not_steady) << "known all the same";
  ASSERT_FALSE(all.blame.empty());
  EXPECT_EQ(all.blame[0].rank, 1);
}

TEST(SteadySteps, FindingsPointIntoThem) {
  JobBuilder job = job_with_warm_up();
  const Report report = steady_report(job.build());
  for (const Finding& finding : report.findings) {
    if (!finding.place || !finding.place->step) continue;
    EXPECT_GT(*finding.place->step, 0) << finding.code;
  }
  EXPECT_GT(checked_analysis(job.build()).report.findings.size(), 0U);
}

TEST(SteadySteps, CollectivesKeepTheirPlaces) {
  const Job job = job_with_warm_up().build();
  AnalysisOptions options;
  options.steady = true;
  const Analysis analysis = checked_analysis(job, options);
  const Analysis whole = checked_analysis(job);
  EXPECT_EQ(analysis.collective_of, whole.collective_of);
  ASSERT_EQ(analysis.report.collectives.size(), whole.report.collectives.size());
  for (std::size_t i = 0; i < whole.report.collectives.size(); ++i)
    EXPECT_EQ(analysis.report.collectives[i].id, whole.report.collectives[i].id);
}

TEST(SteadySteps, AViewOfThemAndBack) {
  Report report = steady_report(job_with_warm_up().build());
  const std::string before = to_json(report);
  NotSteady rest = keep_steady(report);
  EXPECT_EQ(report.steps.size(), 10U);
  EXPECT_EQ(report.collectives.size(), 5U);
  EXPECT_EQ(report.ranks[0].measures.window_ns, 5000);
  EXPECT_EQ(rest.collectives.size(), 2U) << "one of step 0, one of none";
  restore(std::move(rest), report);
  EXPECT_EQ(to_json(report), before);
}

TEST(SteadySteps, ARestrictedReportStaysOverThem) {
  Report report = steady_report(job_with_warm_up().build());
  ASSERT_TRUE(restrict_report({{{0, 0}}, ""}, report).ok());
  EXPECT_EQ(report.steady->ranks.size(), 1U);
  EXPECT_EQ(report.groups[0].operations[0].count, 5);
  EXPECT_EQ(report.collectives.size(), 7U);
  EXPECT_EQ(report.account.ranks.size(), 1U);
}

TEST(SteadySteps, StepsThatWereAskedForCountAsAsked) {
  AnalysisOptions options;
  options.steady = true;
  options.first_step = 0;
  options.last_step = 1;
  const Report report = checked_analysis(job_with_warm_up().build(), options).report;
  EXPECT_FALSE(report.steady.has_value());
  EXPECT_EQ(report.steps.size(), 4U);
}

TEST(SteadySteps, OfTooFewItIsSaid) {
  JobBuilder job;
  for (int step = 0; step < 3; ++step) {
    job.rank(0).step(step, step * 100, step * 100 + 100);
    job.rank(0).compute(step * 100, step * 100 + 90).launched(step * 100, step * 100 + 1);
  }
  const Report report = steady_report(job.build());
  EXPECT_FALSE(report.steady.has_value());
  EXPECT_TRUE(warns_of(report.warnings, "no_steady_steps"));
}

TEST(SteadySteps, AReportOfStepsThatDoNotSettleSaysSo) {
  JobBuilder job;
  Nanoseconds now = 0;
  for (int step = 0; step < 40; ++step) {
    const Nanoseconds length = 1000 + 10 * step;
    job.rank(0).step(step, now, now + length);
    job.rank(0).compute(now, now + length).launched(now, now + 1);
    now += length;
  }
  const Report report = steady_report(job.build());
  const auto found = std::find_if(report.warnings.begin(), report.warnings.end(),
                                  [](const Warning& warning) { return warning.code == "steps_drift"; });
  ASSERT_NE(found, report.warnings.end());
  EXPECT_NE(found->message.find("from 1.04 µs in the first quarter of the steady ones to 1.34 µs"),
            std::string::npos)
      << found->message;
}

TEST(SteadySteps, TheTextSaysWhatIsLeftOut) {
  Report report = steady_report(job_with_warm_up().build());
  keep_steady(report);
  TextOptions options;
  options.page.width = 200;
  const std::string text = to_text(report, options);
  EXPECT_NE(text.find("Left out, unless --all-steps is given: step 0: warm-up, 5.00 µs."), std::string::npos)
      << text;
  EXPECT_NE(text.find("Goodput"), std::string::npos) << text;
}

}  // namespace
}  // namespace lockstep::analyzer
