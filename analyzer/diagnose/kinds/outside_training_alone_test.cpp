// Whether one rank alone evaluates or saves, and what else is said of it then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/diagnose/interruptions.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr Nanoseconds kStep = 10'000 * us;

// 40 steps of 10 ms on two ranks, which compute and then all-reduce for 0.2 ms. Every tenth takes longer:
// what rank 0 does then has a range; rank 1 computes as long, or waits for it.
Job with_ranges_of_rank_0(const char* name, Nanoseconds every_tenth, bool other_computes_too) {
  JobBuilder job;
  Nanoseconds now = 0;
  for (int step = 0; step < 40; ++step) {
    const Nanoseconds longer = step % 10 == 9 ? every_tenth : 0, end = now + kStep + longer;
    const Nanoseconds arrives = end - 200 * us;
    for (const std::int32_t rank : {0, 1}) {
      const Nanoseconds comes = rank == 0 || other_computes_too ? arrives : now + kStep - 200 * us;
      job.rank(rank).step(step, now, end);
      // The trainer of rank 0 idles in its range; where the other does the same, it computes in it.
      job.rank(rank).compute(rank == 0 && longer > 0 ? now + longer : now, comes).launched(now, now + 1 * us);
      job.rank(rank).all_reduce(comes, end).launched(now + 1 * us, now + 2 * us);
    }
    if (longer > 0) job.rank(0).host_range(now, now + longer, name);
    now = end;
  }
  return job.build();
}

Report over_steady_steps(const Job& job) {
  AnalysisOptions options;
  options.steady = true;
  return checked_analysis(job, options).report;
}

// Seen of a healthy job whose ranks evaluate alike under no_grad: what is shorter than a step is not always
// told, and so one of them seemed to do it alone.
TEST(OutsideTrainingAlone, OfPassesWithoutGradientsOnlyWhatIsLongIsOneRanks) {
  const auto evaluates = [](Nanoseconds ns) {
    return finding(over_steady_steps(with_ranges_of_rank_0("evaluation", ns, true)), "evaluation_long");
  };
  const Finding both = evaluates(12'000 * us);
  EXPECT_EQ(both.rank, std::nullopt);
  EXPECT_EQ(both.accuses, Accused::nobody);
  EXPECT_EQ(both.title, "the model runs without being trained: 48.0 ms in 8 steps");
  EXPECT_THAT(both.evidence, Not(Contains(HasSubstr("no other rank does"))));
  EXPECT_THAT(both.evidence, Contains(HasSubstr("what is shorter than a step it may not tell at all")));
  const Finding alone = evaluates(25'000 * us);
  EXPECT_EQ(alone.rank, 0) << "of the other it would have been told";
  EXPECT_EQ(alone.title, "rank 0 evaluates: 100 ms in 8 steps");
}

// 40 steps of 10 ms on two ranks. In every tenth rank 0 does something else for 50 ms first; then both
// evaluate for 2 ms and add up what came of it, which is told of rank 1 alone: it has waited for rank 0 in
// it.
Job with_evaluations_that_wait(const char* what_rank_0_does) {
  JobBuilder job;
  Nanoseconds now = 0;
  for (int step = 0; step < 40; ++step) {
    const bool evaluates = step % 10 == 9;
    const Nanoseconds busy = evaluates ? 50'000 * us : 0, eval = evaluates ? 2'000 * us : 0;
    const Nanoseconds end = now + kStep + busy + eval;
    for (const std::int32_t rank : {0, 1}) {
      const Nanoseconds begins = rank == 0 ? now + busy : now;
      job.rank(rank).step(step, now, end);
      job.rank(rank).compute(begins, begins + eval + 100 * us).launched(now, now + 1 * us);
      if (evaluates)
        job.rank(rank)
            .all_reduce(begins + eval + 100 * us, now + busy + eval + 200 * us)
            .launched(now + 1 * us, now + 2 * us);
      job.rank(rank)
          .compute(now + busy + eval + 200 * us, end - 200 * us)
          .launched(now + 2 * us, now + 3 * us);
      job.rank(rank).all_reduce(end - 200 * us, end).launched(now + 3 * us, now + 4 * us);
    }
    if (evaluates) {
      job.rank(0).host_range(now, now + busy, what_rank_0_does);
      job.rank(1).host_range(now, now + busy + eval + 200 * us, "evaluation");
    }
    now = end;
  }
  return job.build();
}

// Seen of a healthy job, and of one whose other rank collected garbage: who waited in the evaluation was said
// to be the only one that evaluates.
TEST(OutsideTrainingAlone, WhoWaitsInAnEvaluationHasNoMoreOfIt) {
  for (const char* what : {"torch.save", "garbage collection", "something"}) {
    const Report report = over_steady_steps(with_evaluations_that_wait(what));
    for (const Finding& found : report.findings) {
      EXPECT_FALSE(found.code == "evaluation_long" && found.rank) << what << ": " << found.title;
      EXPECT_THAT(found.title, Not(HasSubstr("rank 1"))) << what;
    }
    EXPECT_THAT(codes_of(report.findings), Not(Contains("evaluation_long")))
        << what << ": 2 ms in ten steps, and not what rank 1 waits in it";
  }
}

// Seen of a save that began in the last all-reduce: for 1.6 of 2,390 ms rank 0 did nothing outside of one,
// and was not named for all the others.
TEST(OutsideTrainingAlone, IsWhoHasMostOfAllAndOfItsOwn) {
  struct Time {
    std::int64_t ns, own_ns;
  };
  const auto alone = [](Time rank_0, Time rank_1) {
    AloneRank ranks;
    ranks.add(rank_0.ns, rank_0.own_ns, 0);
    ranks.add(rank_1.ns, rank_1.own_ns, 1);
    return ranks.alone();
  };
  EXPECT_EQ(alone({100, 90}, {20, 20}), 0);
  EXPECT_EQ(alone({100, 90}, {30, 20}), std::nullopt);
  EXPECT_EQ(alone({100, 10}, {0, 0}), 0);
  EXPECT_EQ(alone({100, 2}, {5, 5}), std::nullopt) << "rank 0 waits for rank 1 in it";
  EXPECT_EQ(alone({100, 0}, {5, 5}), std::nullopt);
  EXPECT_EQ(alone({2, 0}, {0, 0}), 0) << "no rank does more";
  EXPECT_EQ(alone({0, 0}, {0, 0}), std::nullopt);
}

// 40 steps of 10 ms on two ranks. In every tenth both evaluate for 50 ms, of which rank 0 computes for 22 ms
// and rank 1 so long, once for each time; then they wait in an all-reduce. Of its own time there rank 1 waits
// for a core as long as it is told.
Finding evaluation_of(const std::vector<Nanoseconds>& of_rank_1, Nanoseconds without_core = 0) {
  JobBuilder job;
  Nanoseconds now = 0;
  SchedulingPoint look;
  for (int step = 0; step < 40; ++step) {
    const auto time = static_cast<std::size_t>(step / 10);
    const Nanoseconds eval = step % 10 == 9 && time < of_rank_1.size() ? 50'000 * us : 0;
    const Nanoseconds end = now + kStep + eval;
    for (const std::int32_t rank : {0, 1}) {
      job.rank(rank).step(step, now, end);
      if (eval > 0) {
        const Nanoseconds own = rank == 0 ? 22'000 * us : of_rank_1[time];
        job.rank(rank).compute(now, now + own).launched(now, now + 1 * us);
        job.rank(rank).all_reduce(now + own, now + eval).launched(now + 1 * us, now + 2 * us);
        job.rank(rank).host_range(now, now + eval, "evaluation");
      }
      job.rank(rank).compute(now + eval, end - 200 * us).launched(now + 2 * us, now + 3 * us);
      job.rank(rank).all_reduce(end - 200 * us, end).launched(now + 3 * us, now + 4 * us);
    }
    look.time = now;
    job.rank(1).trace().scheduling.push_back(look);
    if (eval > 0) {
      look.time = now + of_rank_1[time];
      look.waited_ns = look.runnable_ns += without_core;
      job.rank(1).trace().scheduling.push_back(look);
    }
    now = end;
  }
  return finding(over_steady_steps(job.build()), "evaluation_long");
}

// Seen: rank 1 evaluated on five times as many batches, and who waited was the place to look at.
TEST(OutsideTrainingAlone, WhoTakesLongestIsSaidAndNotAccused) {
  const Finding uneven = evaluation_of(std::vector(4, 49'000 * us));
  EXPECT_EQ(uneven.rank, std::nullopt);
  EXPECT_EQ(uneven.accuses, Accused::nobody);
  EXPECT_EQ(uneven.place->rank, 1);
  EXPECT_THAT(
      uneven.evidence,
      Contains("rank 1 takes longest for it: 196 ms outside of operations with others, the median of the "
               "others 88.0 ms; they wait for it meanwhile"));
  EXPECT_THAT(evaluation_of(std::vector(4, 24'000 * us)).evidence,
              Not(Contains(HasSubstr("takes longest for it"))));
}

// Seen of healthy ranks on cores that others used, too: named for two evaluations, and for one.
TEST(OutsideTrainingAlone, WhoTakesLongestDoesSoTimeAndAgain) {
  constexpr Nanoseconds kLonger = 49'000 * us, kShorter = 20'000 * us;
  const auto evidence = [](const std::vector<Nanoseconds>& of_rank_1) {
    return evaluation_of(of_rank_1).evidence;
  };
  EXPECT_THAT(evidence({kLonger, kLonger}), Not(Contains(HasSubstr("takes longest for it"))));
  EXPECT_THAT(evidence({kLonger, kLonger, kShorter, kShorter}),
              Not(Contains(HasSubstr("takes longest for it"))));
  EXPECT_THAT(evidence({kLonger, kLonger, kLonger}), Contains(HasSubstr("rank 1 takes longest for it")));
  EXPECT_THAT(evidence({kLonger, kLonger, kLonger, kShorter}),
              Contains(HasSubstr("rank 1 takes longest for it: 167 ms")));
}

TEST(OutsideTrainingAlone, WhatTheSchedulerTakesIsNoLongerEvaluation) {
  const std::vector<Nanoseconds> longer(4, 49'000 * us);
  EXPECT_THAT(
      evaluation_of(longer, 10'000 * us).evidence,
      Contains(HasSubstr("156 ms outside of operations with others and without waiting for a core, the "
                         "median of the others 88.0 ms")));
  EXPECT_THAT(evaluation_of(longer, 25'000 * us).evidence, Not(Contains(HasSubstr("takes longest for it"))));
}

// A framework's own evaluation is told whatever it takes.
TEST(OutsideTrainingAlone, OfAFrameworksEvaluationTheRangesTell) {
  EXPECT_EQ(
      finding(over_steady_steps(with_ranges_of_rank_0("evaluate", 5000 * us, true)), "evaluation_long").rank,
      0);
}

// 5 ms of `name` in every tenth step, and at the end of them `waiting` for an earlier save to end.
Finding saves_of(const char* name, Nanoseconds waiting = 0) {
  Job job = with_ranges_of_rank_0(name, 5000 * us, false);
  const std::uint32_t waits =
      job.strings.intern("checkpoint: waiting for torch.distributed.checkpoint.async_save");
  std::vector<HostRange> ranges;
  for (const HostRange& range : job.ranks[0].host_ranges) {
    ranges.push_back(range);
    if (waiting == 0 || job.strings.view(range.name) != name) continue;
    ranges.push_back(range);
    ranges.back().name = waits;
    ranges.back().begin = range.end - waiting;
  }
  std::ranges::stable_sort(ranges, {}, &HostRange::begin);
  job.ranks[0].host_ranges = std::move(ranges);
  return finding(over_steady_steps(job), "checkpoints_block");
}

// Seen: "0.0 % is waiting for one to end", and what is to be done against it.
TEST(OutsideTrainingAlone, WhoHardlyWaitsForASaveIsNotToldThatItShouldEndSooner) {
  const char* const stages = "checkpoint: torch.distributed.checkpoint.async_save";
  const Finding never = saves_of(stages);
  EXPECT_THAT(never.evidence, Contains("they are saved in the background already: 100.0 % of the time in "
                                       "checkpoints is `async_save` itself, which copies the state first "
                                       "(staging)"));
  EXPECT_THAT(never.remedy, HasSubstr("each `async_save` copies the state before training goes on"));
  EXPECT_THAT(never.remedy, Not(HasSubstr("before it is waited for")));
  const Finding little = saves_of(stages, 250 * us);
  EXPECT_THAT(little.evidence, Contains(HasSubstr("5.0 % is waiting for one to end")));
  EXPECT_THAT(little.remedy, Not(HasSubstr("before it is waited for")));
  EXPECT_THAT(saves_of(stages, 1000 * us).remedy, HasSubstr("so that a save ends before it is waited for"));
  EXPECT_THAT(
      saves_of("checkpoint: waiting for torch.distributed.checkpoint.async_save").evidence,
      Contains("they are saved in the background already: 100.0 % of the time in checkpoints is waiting "
               "for one to end"));
}

// Over all steps a checkpoint's rank comes late in its rhythm, and the checkpoint is why.
TEST(OutsideTrainingAlone, WhoSavesInARhythmIsNotLateForAnotherReason) {
  const Job saves = with_ranges_of_rank_0("torch.save", 5000 * us, false);
  const Report all_steps = checked_analysis(saves, {}).report;
  EXPECT_EQ(finding(all_steps, "checkpoints_block").rank, 0);
  EXPECT_THAT(codes_of(all_steps.findings), Not(Contains("straggler_periodic")));
  const Report without_ranges =
      checked_analysis(with_ranges_of_rank_0("something", 5000 * us, false), {}).report;
  EXPECT_THAT(codes_of(without_ranges.findings), Contains("straggler_periodic")) << "nothing else says why";
}

}  // namespace
}  // namespace lockstep::analyzer
