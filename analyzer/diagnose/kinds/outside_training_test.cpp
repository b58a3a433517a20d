// Checkpoints, evaluation, compilation and start-up that cost much.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr Nanoseconds kStep = 10'000 * us;

struct Range {
  std::int32_t rank = 0;
  std::string name;
  Nanoseconds ns = 0;
  int every = 10;  // in steps 9, 19, …
};

// 40 steps of 10 ms on two ranks: each computes for 9.8 ms, then both all-reduce for 0.2 ms. In every tenth
// step a range is put before the computation of its ranks, and the others wait. `start` of start-up before
// all. The last all-reduce takes `tail` longer on rank 0, while rank 1, whose steps are over, compiles.
// `behind` the last step.
Report report_of_ranges(
    const std::vector<Range>& ranges, Nanoseconds start = 0, Nanoseconds tail = 0,
    const std::vector<Range>& behind = {}, const std::function<void(Job&)>& change = [](Job&) {}) {
  JobBuilder job;
  Nanoseconds now = start;
  for (int step = 0; step < 40; ++step) {
    std::array<Nanoseconds, 2> of_rank{};
    for (const Range& range : ranges)
      if (step % range.every == range.every - 1) of_rank[static_cast<std::size_t>(range.rank)] += range.ns;
    const Nanoseconds longest = std::max(of_rank[0], of_rank[1]);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      Nanoseconds begin = now;
      for (const Range& range : ranges) {
        if (range.rank != rank || step % range.every != range.every - 1) continue;
        job.rank(rank).host_range(begin + 100 * us, begin + 100 * us + range.ns, range.name);
        begin += range.ns;
      }
      const Nanoseconds longer = step == 39 && rank == 0 ? tail : 0;
      job.rank(rank).step(step, now, now + longest + kStep + longer);
      job.rank(rank).compute(now, now + 100 * us).launched(now + 1 * us, now + 2 * us);
      job.rank(rank).compute(begin + 100 * us, begin + 9800 * us).launched(now + 3 * us, now + 4 * us);
      job.rank(rank)
          .all_reduce(begin + 9800 * us, now + longest + kStep + longer)
          .launched(now + 5 * us, now + 6 * us);
    }
    now += longest + kStep;
  }
  if (tail > 0) job.rank(1).host_range(now, now + tail, "compilation: torch.compile");
  for (const Range& range : behind)
    job.rank(range.rank).host_range(now + 1000 * us, now + 1000 * us + range.ns, range.name);
  if (start > 0)
    for (std::int32_t rank = 0; rank < 2; ++rank) job.rank(rank).host_range(0, start, "start-up: imports");
  AnalysisOptions options;
  options.steady = true;
  Job built = job.build();
  change(built);
  return checked_analysis(built, options).report;
}

TEST(OutsideTraining, ACheckpointOnOneRankIsThatRanks) {
  const Report report = report_of_ranges({{0, "torch.save", 5000 * us}});
  const Finding found = finding(report, "checkpoints_block");
  EXPECT_EQ(found.title, "rank 0 saves checkpoints: 20.0 ms in 4 steps");
  EXPECT_EQ(found.rank, 0);
  EXPECT_EQ(found.lost_ns, 2 * 20'000 * us) << "the other waits";
  EXPECT_NEAR(found.lost_share, 20.0 / (400 + 20), 0.002);
  EXPECT_EQ(found.severity, "medium");
  EXPECT_EQ(found.accuses, Accused::job);
  ASSERT_TRUE(found.place);
  EXPECT_EQ(found.place->rank, 0);
  EXPECT_EQ(found.place->step, 9);
  EXPECT_EQ(found.place->end_ns - found.place->begin_ns, 5000 * us) << "the save, not the steps around it";
  EXPECT_EQ(report.findings.front().code, "checkpoints_block");
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("jitter")));
}

TEST(OutsideTraining, OfARankWithoutARecordOfThatTimeNothingIsSaid) {
  const auto evidence = [](const auto& spoil) {
    return finding(report_of_ranges({{0, "torch.save", 5000 * us}}, 0, 0, {}, spoil), "checkpoints_block")
        .evidence;
  };
  EXPECT_THAT(evidence([](Job&) {}), Contains(HasSubstr("no other rank does")));
  const std::vector<std::string> damaged = evidence([](Job& job) {
    job.ranks[1].lost.push_back({95'000 * us, 96'000 * us});
  });
  EXPECT_THAT(damaged, Not(Contains(HasSubstr("no other rank does"))));
  EXPECT_THAT(damaged, Contains(HasSubstr("whether rank 1 does so too is not known")));
  const std::vector<std::string> missing = evidence([](Job& job) {
    job.ranks_missing = {2};
    job.world_size = 3;
  });
  EXPECT_THAT(missing, Not(Contains(HasSubstr("no other rank does"))));
  EXPECT_THAT(missing, Contains(HasSubstr("whether rank 2 does so too is not known")));
}

// What a rank does is looked at by step.
TEST(OutsideTraining, WithoutStepsOfAnotherRankNobodyIsNamed) {
  const Finding alone = finding(report_of_ranges({{0, "torch.save", 5000 * us}}, 0, 0, {},
                                                 [](Job& job) { job.ranks[1].steps.clear(); }),
                                "checkpoints_block");
  EXPECT_EQ(alone.title, "checkpoints stop training: 20.0 ms in 4 steps");
  EXPECT_EQ(alone.rank, std::nullopt);
  EXPECT_THAT(alone.evidence, Not(Contains(HasSubstr("no other rank does"))));
}

// The first of the ranges lies in the first step.
void begin_with_a_range(Job& job) {
  for (RankTrace& rank : job.ranks) {
    for (StepMark& step : rank.steps) step.number -= 9;
    rank.steps.erase(rank.steps.begin(), rank.steps.begin() + 9);
  }
}

TEST(OutsideTraining, WhatIsEvaluatedBeforeTheFirstSteadyStepCountsToo) {
  const Report report = report_of_ranges({{0, "evaluate", 20'000 * us}}, 0, 0, {}, begin_with_a_range);
  ASSERT_TRUE(report.steady);
  EXPECT_EQ(report.steady->left_out.front().first, 0) << "the run begins with one";
  EXPECT_EQ(finding(report, "evaluation_long").title, "rank 0 evaluates: 80.0 ms in 4 steps");
}

// Seen of a job that was started again: "save in the background" was said of the checkpoint that it went on
// from.
TEST(OutsideTraining, WhatIsLoadedBeforeTheFirstSteadyStepStopsNoTraining) {
  const std::vector<Range> loads{{0, "torch.load", 20'000 * us, 40}};
  EXPECT_THAT(codes_of(report_of_ranges(loads).findings), Contains("checkpoints_block"))
      << "in the last step";
  const std::vector<Range> saves{{0, "torch.save", 20'000 * us}};
  EXPECT_EQ(finding(report_of_ranges(saves, 0, 0, {}, begin_with_a_range), "checkpoints_block").title,
            "rank 0 saves checkpoints: 60.0 ms in 3 steps");
}

TEST(OutsideTraining, ACheckpointOnAllRanksIsNobodys) {
  const Report report = report_of_ranges({{0, "checkpoint", 5000 * us}, {1, "checkpoint", 5000 * us}});
  const Finding found = finding(report, "checkpoints_block");
  EXPECT_EQ(found.title, "checkpoints stop training: 20.0 ms in 4 steps");
  EXPECT_EQ(found.rank, std::nullopt);
  EXPECT_EQ(found.lost_ns, 2 * 20'000 * us);
}

TEST(OutsideTraining, LittleIsNoFinding) {
  EXPECT_THAT(codes_of(report_of_ranges({{0, "torch.save", 1000 * us}}).findings),
              Not(Contains("checkpoints_block")));
  EXPECT_THAT(codes_of(report_of_ranges({}).findings), Not(Contains("checkpoints_block")));
}

TEST(OutsideTraining, EvaluationAndCompilationHaveTheirKinds) {
  const Report report = report_of_ranges({{0, "evaluate", 20'000 * us}, {1, "evaluate", 20'000 * us}});
  EXPECT_EQ(finding(report, "evaluation_long").title,
            "evaluation takes the place of training: 80.0 ms in 4 steps");
  const Report compiled = report_of_ranges({{1, "compile", 20'000 * us}});
  const Finding found = finding(compiled, "recompilation");
  EXPECT_EQ(found.title, "rank 1 compiles anew: 80.0 ms in 4 steps");
  EXPECT_THAT(found.remedy, HasSubstr("TORCH_LOGS=recompiles"));
}

// The account has the mean of the ranks, the finding at each place the longest: where they differ, both are
// named.
// As Hugging Face's Trainer saves within a range that is called evaluation.
TEST(OutsideTraining, WhatAnEvaluationSavesIsNoEvaluation) {
  const auto report_with_saves_of = [](Nanoseconds ns) {
    return report_of_ranges({{0, "validate", 6000 * us}, {1, "validate", 6000 * us}}, 0, 0, {},
                            [ns](Job& job) {
                              const std::uint32_t save = job.strings.intern("torch.save");
                              for (RankTrace& rank : job.ranks) {
                                std::vector<HostRange> saves;
                                for (HostRange range : rank.host_ranges) {
                                  if (job.strings.view(range.name) != "validate") continue;
                                  range.name = save;
                                  range.end = range.begin + ns;
                                  saves.push_back(range);
                                }
                                rank.host_ranges.insert(rank.host_ranges.end(), saves.begin(), saves.end());
                                std::ranges::stable_sort(rank.host_ranges, {}, &HostRange::begin);
                              }
                            });
  };
  const Report little = report_with_saves_of(1000 * us);
  EXPECT_EQ(finding(little, "evaluation_long").title,
            "evaluation takes the place of training: 20.0 ms in 4 steps");
  EXPECT_THAT(finding(little, "evaluation_long").evidence, Not(Contains(HasSubstr("adds up the rank"))))
      << "the account says the same";
  const Report most = report_with_saves_of(4000 * us);
  EXPECT_THAT(codes_of(most.findings), Not(Contains("evaluation_long"))) << "what is left of it is little";
  EXPECT_EQ(finding(most, "checkpoints_block").title, "checkpoints stop training: 16.0 ms in 4 steps");
}

// Rank 1 waits in its evaluation for rank 0, which saves in its own.
TEST(OutsideTraining, WhatIsSavedMeanwhileCountsOnce) {
  const Report report =
      report_of_ranges({{0, "validate", 500 * us}, {0, "torch.save", 5500 * us}, {1, "validate", 6000 * us}});
  EXPECT_EQ(finding(report, "checkpoints_block").title, "rank 0 saves checkpoints: 22.0 ms in 4 steps");
  EXPECT_THAT(codes_of(report.findings), Not(Contains("evaluation_long")));
}

// As most loops do. Seen: the shorter one, 18 % of training, was not found.
TEST(OutsideTraining, WhatLiesInTheSameStepsIsToldOfEach) {
  const Report report = report_of_ranges(
      {{0, "evaluate", 20'000 * us}, {1, "evaluate", 20'000 * us}, {0, "torch.save", 5000 * us}});
  ASSERT_EQ(report.steady->left_out.size(), 4U);
  EXPECT_EQ(report.steady->left_out[0].reason, "evaluation");
  EXPECT_EQ(finding(report, "evaluation_long").title,
            "evaluation takes the place of training: 80.0 ms in 4 steps");
  const Finding saves = finding(report, "checkpoints_block");
  EXPECT_EQ(saves.title, "rank 0 saves checkpoints: 20.0 ms in 4 steps");
  EXPECT_EQ(saves.lost_ns, 2 * 20'000 * us);
  ASSERT_TRUE(saves.place);
  EXPECT_EQ(saves.place->begin_ns, 9 * kStep + 20'100 * us) << "the save, not the evaluation before it";
  EXPECT_EQ(saves.place->end_ns - saves.place->begin_ns, 5000 * us);
}

// Seen: "nothing was found that costs much", of a loop that evaluated for longer than it trained.
TEST(OutsideTraining, WhatMostStepsHoldIsFoundAndTheyStaySteady) {
  const Report report = report_of_ranges({{0, "evaluate", 5000 * us, 1}, {1, "evaluate", 5000 * us, 1}}, 0, 0,
                                         {{0, "evaluate", 3000 * us}, {1, "evaluate", 3000 * us}});
  EXPECT_THAT(report.steady->left_out, testing::IsEmpty());
  const Finding found = finding(report, "evaluation_long");
  EXPECT_EQ(found.title,
            "evaluation takes the place of training: 203 ms in 40 of 40 steps, and after the last step");
  EXPECT_EQ(found.lost_ns, 2 * (200'000 + 3000) * us);
  EXPECT_EQ(report.findings.front().code, "evaluation_long");
  EXPECT_THAT(found.evidence, Contains(HasSubstr("the other figures are over such steps too")));
  EXPECT_THAT(found.evidence, Not(Contains(HasSubstr("no part of the other figures"))));
  ASSERT_TRUE(found.place);
  EXPECT_EQ(found.place->end_ns - found.place->begin_ns, 5000 * us) << "of one step";
  const Report of_one = report_of_ranges({{1, "torch.save", 5000 * us, 1}});
  EXPECT_EQ(finding(of_one, "checkpoints_block").title, "rank 1 saves checkpoints: 200 ms in 40 of 40 steps");
}

// Seen: "save in the background (async_save)" was said to a program that does.
TEST(OutsideTraining, WhoSavesInTheBackgroundIsNotToldTo) {
  const char* const stages = "checkpoint: torch.distributed.checkpoint.async_save";
  const char* const waits = "checkpoint: waiting for torch.distributed.checkpoint.async_save";
  const Finding found =
      finding(report_of_ranges({{0, stages, 3000 * us}, {0, waits, 1000 * us}, {0, "torch.save", 1000 * us}}),
              "checkpoints_block");
  EXPECT_THAT(found.remedy, Not(HasSubstr("save in the background")));
  EXPECT_THAT(found.remedy, HasSubstr("AsyncCheckpointerType.PROCESS"));
  EXPECT_THAT(found.evidence,
              Contains(HasSubstr("60.0 % of the time in checkpoints is `async_save` itself")));
  EXPECT_THAT(found.evidence, Contains(HasSubstr("20.0 % is waiting for one to end")));
  const Finding others =
      finding(report_of_ranges({{0, stages, 2000 * us}, {0, "torch.save", 4000 * us}}), "checkpoints_block");
  EXPECT_THAT(others.remedy, HasSubstr("save in the background")) << "most is saved otherwise";
}

TEST(OutsideTraining, WhereEveryStepCountsItIsFoundToo) {
  Job job;
  report_of_ranges({{0, "torch.save", 5000 * us}}, 0, 0, {{0, "torch.save", 7000 * us}},
                   [&job](Job& built) { job = built; });
  const Report all = report_of(job);
  ASSERT_FALSE(all.steady);
  const Finding found = finding(all, "checkpoints_block");
  EXPECT_EQ(found.title, "rank 0 saves checkpoints: 27.0 ms in 4 steps, and after the last step");
  EXPECT_THAT(found.evidence, Contains(HasSubstr("the other figures are over such steps too")));
  AnalysisOptions some;
  some.first_step = 15;
  const Report asked_for = checked_analysis(job, some).report;
  EXPECT_EQ(finding(asked_for, "checkpoints_block").title, "rank 0 saves checkpoints: 15.0 ms in 3 steps")
      << "of these steps, not behind them";
}

TEST(OutsideTraining, ATotalThatTheAccountHasOtherwiseIsNamed) {
  const auto evidence = [](Nanoseconds of_the_other) {
    const Report report = report_of_ranges({{0, "evaluate", 20'000 * us}, {1, "evaluate", of_the_other}});
    const Finding found = finding(report, "evaluation_long");
    EXPECT_EQ(found.title, "evaluation takes the place of training: 80.0 ms in 4 steps");
    EXPECT_EQ(report.account.spent[Spending::evaluation], 4 * (20'000 * us + of_the_other));
    return found.evidence;
  };
  EXPECT_THAT(
      evidence(16'000 * us),
      Contains(
          "80.0 ms adds up the rank that took longest each time; the account of the whole run, in which each moment "
          "counts once, says 72.0 ms (mean of the ranks)"));
  EXPECT_THAT(evidence(20'000 * us), Not(Contains(HasSubstr("the account of the whole run"))));
}

TEST(OutsideTraining, ATotalOfCompilationThatTheAccountHasOtherwiseIsNamed) {
  const Report report = report_of_ranges({{0, "compile", 20'000 * us}, {1, "compile", 16'000 * us}});
  EXPECT_EQ(report.account.spent[Spending::compilation], 4 * 36'000 * us);
  EXPECT_THAT(finding(report, "recompilation").evidence,
              Contains(HasSubstr("says 72.0 ms (mean of the ranks)")));
  const Report same = report_of_ranges({{0, "compile", 20'000 * us}, {1, "compile", 20'000 * us}});
  EXPECT_THAT(finding(same, "recompilation").evidence,
              Not(Contains(HasSubstr("the account of the whole run"))));
}

// The hook's own name for eval(), or passes without gradients, without an optimizer step: a rollout looks the
// same. Whether eval() was called the name does not tell.
TEST(OutsideTraining, OfTheModelsModeAloneNobodySaysThatItIsEvaluation) {
  const Finding found = finding(
      report_of_ranges({{0, "evaluation", 20'000 * us}, {1, "evaluation", 20'000 * us}}), "evaluation_long");
  EXPECT_EQ(found.title, "the model runs without being trained: 80.0 ms in 4 steps");
  EXPECT_EQ(found.accuses, Accused::nobody);
  EXPECT_THAT(found.remedy, HasSubstr("rollouts and generation are part of the job's work"));
  const Finding named = finding(
      report_of_ranges({{0, "evaluation", 20'000 * us}, {1, "evaluation: Trainer.evaluate", 20'000 * us}}),
      "evaluation_long");
  EXPECT_EQ(named.title, "evaluation takes the place of training: 80.0 ms in 4 steps");
}

TEST(OutsideTraining, WhatOneRankAlwaysDoesAloneIsItsAlsoWhereAnotherWaitsForItInItsLastStep) {
  const Report report = report_of_ranges({{1, "compilation: torch.compile", 5000 * us, 12}}, 0, 5000 * us);
  const Finding found = finding(report, "recompilation");
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(found.title, "rank 1 compiles anew: 15.0 ms in 3 steps");
  EXPECT_EQ(report.steady->left_out.back().first, 39);
  EXPECT_EQ(report.steady->left_out.back().reason_ns, 0) << "in no rank's own step";
}

TEST(OutsideTraining, TheLastCheckpointBehindTheLastStepCountsToo) {
  const Report report =
      report_of_ranges({{0, "torch.save", 5000 * us}}, 0, 0, {{0, "torch.save", 7000 * us}});
  const Finding found = finding(report, "checkpoints_block");
  EXPECT_EQ(found.title, "rank 0 saves checkpoints: 27.0 ms in 4 steps, and after the last step");
  EXPECT_EQ(found.lost_ns, 2 * 20'000 * us + 7000 * us) << "behind the last step nobody has to wait for it";
  EXPECT_THAT(found.evidence,
              Contains(HasSubstr(
                  "7.00 ms of it comes after the last step: at the end of the run, or the last of those "
                  "that come between steps")));
  ASSERT_TRUE(found.place);
  EXPECT_EQ(found.place->step, std::nullopt);
  EXPECT_EQ(found.place->end_ns - found.place->begin_ns, 7000 * us);
}

// Seen: "at 8 places" of ten evaluations, most of which lay in two steps.
TEST(OutsideTraining, StepsAreCountedWhereARangeGoesOnBehindItsOwn) {
  const auto title = [](int every, Nanoseconds longer) {
    const auto go_on = [longer](Job& job) {
      for (RankTrace& rank : job.ranks)
        for (HostRange& range : rank.host_ranges)
          if (job.strings.view(range.name) == "torch.save") range.end += longer;
    };
    return finding(report_of_ranges({{0, "torch.save", 30'000 * us, every}}, 0, 0, {}, go_on),
                   "checkpoints_block")
        .title;
  };
  EXPECT_EQ(title(40, 0), "rank 0 saves checkpoints: 30.0 ms in 1 step");
  EXPECT_EQ(title(40, 10'000 * us), "rank 0 saves checkpoints: 40.0 ms in 1 step, and after the last step");
  EXPECT_THAT(title(10, 15'000 * us), HasSubstr(" in 7 steps, and after the last step"));
}

TEST(OutsideTraining, WhatIsDoneBehindTheLastStepAloneIsFound) {
  const Report report =
      report_of_ranges({}, 0, 0, {{0, "evaluate", 50'000 * us}, {1, "evaluate", 40'000 * us}});
  const Finding found = finding(report, "evaluation_long");
  EXPECT_EQ(found.title, "evaluation takes the place of training: 50.0 ms after the last step");
  EXPECT_EQ(found.lost_ns, 90'000 * us);
  EXPECT_EQ(found.rank, std::nullopt);
  const Report of_one = report_of_ranges({}, 0, 0, {{1, "torch.save", 50'000 * us}});
  EXPECT_EQ(finding(of_one, "checkpoints_block").title,
            "rank 1 saves checkpoints: 50.0 ms after the last step");
  EXPECT_THAT(codes_of(report_of_ranges({}, 0, 0, {{1, "torch.save", 5000 * us}}).findings),
              Not(Contains("checkpoints_block")))
      << "little";
}

TEST(OutsideTraining, LongStartUpStandsBehindAllOthers) {
  const Report report = report_of_ranges({{0, "torch.save", 5000 * us}}, 100'000'000 * us);
  const Finding found = finding(report, "start_up_long");
  EXPECT_THAT(found.title, HasSubstr("100 s of 100 s"));
  EXPECT_EQ(found.code, report.findings.back().code);
  EXPECT_EQ(report.findings.front().code, "checkpoints_block") << "a share of training, not of the run";
  EXPECT_THAT(codes_of(report_of_ranges({}, 10'000'000 * us).findings), Not(Contains("start_up_long")))
      << "ten seconds are worth no setting";
}

TEST(OutsideTraining, LongCompilationBeforeTrainingStandsBehindAllOthers) {
  const auto compiled_first = [](Nanoseconds ns) {
    return report_of_ranges({}, ns, 0, {}, [](Job& job) {
      for (RankTrace& rank : job.ranks)
        for (HostRange& range : rank.host_ranges)
          range.name = job.strings.intern("compilation: torch.compile");
    });
  };
  const Report report = compiled_first(100'000'000 * us);
  const Finding found = finding(report, "compilation_long");
  EXPECT_EQ(found.title, "much of the run is compilation: 100 s of 100 s");
  EXPECT_EQ(found.lost_ns, 2 * 100'000'000 * us);
  EXPECT_EQ(found.code, report.findings.back().code);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("start_up_long")));
  EXPECT_THAT(codes_of(compiled_first(10'000'000 * us).findings), Not(Contains("compilation_long")));
}

}  // namespace
}  // namespace lockstep::analyzer
