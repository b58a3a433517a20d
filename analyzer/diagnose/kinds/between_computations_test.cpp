// Ranks on CPUs between their computations: what they do then, and who does it alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

// A millisecond, of which the rank computes, idles for `idle`, and communicates for a tenth.
void add_step(JobBuilder& builder, int rank, int step, Nanoseconds idle, bool is_marked = true) {
  const Nanoseconds begin = step * 1000 * us;
  builder.rank(rank).trace().device = "cpu";
  builder.rank(rank).compute(begin, begin + 900 * us - idle).launched(begin, begin);
  builder.rank(rank)
      .all_reduce(begin + 900 * us, begin + 1000 * us)
      .launched(begin + 900 * us, begin + 900 * us);
  if (is_marked) builder.rank(rank).step(step, begin, begin + 1000 * us);
}

// Two ranks on CPUs, 12 steps (too few to tell who is late) of a millisecond, of which rank 0 idles for a
// tenth and rank 1 for `idle` µs; what a look at their stacks saw then, and what their threads did. Of rank 0
// so many steps are marked; over steady ones, or over all: then a rank without steps has all of its time.
enum class Threads { not_looked_at, ran, waited_for_a_core, rank_1_waited, slept, ran_or_slept };
Report looked_at(Nanoseconds idle, const std::string& seen_0, const std::string& seen_1,
                 Threads threads = Threads::not_looked_at, const char* named = nullptr, int marked_0 = 12,
                 bool steady = false) {
  JobBuilder builder;
  for (int rank = 0; rank < 2; ++rank)
    for (int step = 0; step < 12; ++step)
      add_step(builder, rank, step, (rank == 0 ? 100 : idle) * us, rank == 1 || step < marked_0);
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) {
    const std::uint32_t seen = job.strings.intern(rank.rank == 0 ? seen_0 : seen_1);
    for (int step = 1; step <= 12; ++step)
      rank.host_ranges.push_back(
          {step * 1000 * us - 150 * us, step * 1000 * us - 100 * us, seen, 0, 0, HostKind::python_place});
    const Nanoseconds gap = (rank.rank == 0 ? 100 : idle) * us;
    for (int step = 0; step < 12 && named != nullptr; ++step) {
      const Nanoseconds end = step * 1000 * us + 900 * us;
      rank.host_ranges.push_back({end - gap, end, job.strings.intern(named), 0, 0, HostKind::other});
    }
    std::stable_sort(rank.host_ranges.begin(), rank.host_ranges.end(),
                     [](const HostRange& a, const HostRange& b) { return a.begin < b.begin; });
    if (threads == Threads::not_looked_at) continue;
    SchedulingPoint point;
    rank.scheduling.push_back(point);
    const auto look = [&](Nanoseconds time, bool on, bool waited) {
      const Nanoseconds passed = time - point.time;
      point.known = true;
      point.time = time;
      if (on) point.on_cpu_ns += passed;
      if (waited) point.runnable_ns += passed;
      if (waited) point.waited_ns += passed;
      rank.scheduling.push_back(point);
    };
    for (int step = 0; step < 12; ++step) {
      const Nanoseconds begin = step * 1000 * us;
      if (threads == Threads::ran_or_slept) {  // of rank 1: 800 µs, of which it computed 600
        look(begin + 1000 * us, false, false);
        rank.scheduling.back().on_cpu_ns = point.on_cpu_ns += 800 * us;
        continue;
      }
      look(begin + 900 * us - gap, true, false);
      const bool waited =
          threads == Threads::waited_for_a_core || (threads == Threads::rank_1_waited && rank.rank == 1);
      look(begin + 900 * us, threads == Threads::ran, waited);
      look(begin + 1000 * us, false, false);
    }
  }
  AnalysisOptions options;
  options.steady = steady;
  return checked_analysis(job, options).report;
}

// Nobody looked at stacks.
Report garbage_of_rank_1() {
  JobBuilder builder;
  for (int rank = 0; rank < 2; ++rank)
    for (int step = 0; step < 12; ++step) add_step(builder, rank, step, (rank == 0 ? 100 : 300) * us);
  Job job = builder.build();
  const std::uint32_t garbage = job.strings.intern("garbage collection");
  for (int step = 0; step < 12; ++step)
    job.ranks[1].host_ranges.push_back(
        {step * 1000 * us + 600 * us, step * 1000 * us + 900 * us, garbage, 0, 0, HostKind::other});
  return report_of(job);
}

// On CPUs, too, a profile with stacks is slower between computations than the job by itself.
TEST(HostBound, SaysOnCpusThatTheProfilerIsAPartOfIt) {
  JobBuilder builder;
  for (int rank = 0; rank < 2; ++rank) {
    builder.rank(rank).trace().device = "cpu";
    for (int step = 0; step < 12; ++step) {
      const Nanoseconds begin = step * 1000 * us;
      builder.rank(rank).step(step, begin, begin + 1000 * us);
      builder.rank(rank).compute(begin, begin + 600 * us).launched(begin, begin);
      builder.rank(rank).all_reduce(begin + 950 * us, begin + 1000 * us);
      builder.rank(rank).launched(begin + 950 * us, begin + 950 * us);
    }
  }
  Job job = builder.build();
  const auto names_profiler = testing::Contains(testing::HasSubstr("what the profiler itself costs"));
  EXPECT_THAT(finding(report_of(job), "idle_between_computations").evidence, testing::Not(names_profiler));
  job.warnings.push_back({"profiler_overhead", "recorded with with_stack", 0});
  EXPECT_THAT(finding(report_of(job), "idle_between_computations").evidence, names_profiler);
}

// That the training threads ran then is no judgement of what they did: it may be computation in no pass.
TEST(HostBound, SaysThatARankWorksBetweenItsComputations) {
  const auto works = testing::Contains(testing::HasSubstr("it works there"));
  const auto evidence_of = [](Threads threads) {
    return finding(looked_at(300, "step (train.py:7)", "log (train.py:31)", threads),
                   "idle_between_computations")
        .evidence;
  };
  EXPECT_THAT(evidence_of(Threads::ran), works);
  EXPECT_THAT(evidence_of(Threads::slept), testing::Not(works));
  EXPECT_THAT(
      evidence_of(Threads::slept),
      testing::Contains("that is its own time: what others wait for rank 1 meanwhile is not counted"));
}

TEST(HostBound, NamesTheRankThatIsAloneInAPlace) {
  const Finding alone =
      finding(looked_at(300, "step (train.py:7)", "log (train.py:31)"), "idle_between_computations");
  EXPECT_EQ(alone.title, "between its computations rank 1 is in `log (train.py:31)`, which no other rank is");
  EXPECT_EQ(alone.rank, 1);
  EXPECT_EQ(alone.accuses, Accused::rank);
  // 300 µs in each of 12 steps; not the 100 of rank 0, which are in none of the named lines.
  EXPECT_EQ(alone.lost_ns, 3600 * us);
  EXPECT_EQ(alone.evidence.front(),
            "it spends 3.60 ms between its computations, the median of the others 1.20 ms");
  ASSERT_TRUE(alone.place);
  EXPECT_EQ(alone.place->rank, 1);
  const Finding both =
      finding(looked_at(300, "log (train.py:31)", "log (train.py:31)"), "idle_between_computations");
  EXPECT_EQ(both.title, "between their computations ranks are in `log (train.py:31)` above all");
  EXPECT_EQ(both.rank, std::nullopt);
  EXPECT_EQ(both.accuses, Accused::nobody);
  // The garbage of what a line has made is collected in another one.
  const Finding garbage = finding(
      looked_at(300, "step (train.py:7)", "log (train.py:31)", Threads::not_looked_at, "garbage collection"),
      "idle_between_computations");
  EXPECT_EQ(
      garbage.title,
      "between its computations rank 1 collects garbage at `log (train.py:31)`, and no other rank does");
  EXPECT_THAT(
      garbage.evidence,
      testing::Contains("3.60 ms of 3.60 ms of the time between its computations is garbage collection"));
  EXPECT_THAT(garbage.remedy, testing::HasSubstr("gc.freeze()"));
  // As much time there as the other rank has elsewhere costs nobody anything.
  const Finding same =
      finding(looked_at(100, "step (train.py:7)", "log (train.py:31)"), "idle_between_computations");
  EXPECT_EQ(same.rank, std::nullopt);
}

// Seen of an optimizer that was imported within the first step: that step had most time, and was pointed at.
TEST(HostBound, PointsAtAStepInWhichTheRankWasSeenThere) {
  JobBuilder builder;
  for (int rank = 0; rank < 2; ++rank)
    for (int step = 0; step < 12; ++step)
      add_step(builder, rank, step, (rank == 0 ? 10 : step == 0 ? 700 : 400) * us);
  Job job = builder.build();
  const std::uint32_t imports = job.strings.intern("<module> (torch.py:1)");
  const std::uint32_t logs = job.strings.intern("log (train.py:31)"),
                      trains = job.strings.intern("step (train.py:7)");
  const auto look = [&](std::size_t rank, Nanoseconds at, std::uint32_t place) {
    job.ranks[rank].host_ranges.push_back({at, at + 10 * us, place, 0, 0, HostKind::python_place});
  };
  for (int step = 0; step < 12; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    look(0, begin + 100 * us, trains);
    look(0, begin + 200 * us, trains);
    for (int i = 0; i < (step == 7 ? 3 : 1); ++i)
      look(1, begin + (600 + 50 * i) * us, step == 0 ? imports : logs);
  }
  const Finding found = finding(report_of(job), "idle_between_computations");
  ASSERT_EQ(found.rank, 1);
  ASSERT_TRUE(found.place);
  EXPECT_LE(found.place->begin_ns, 7600 * us);
  EXPECT_GT(found.place->end_ns, 7600 * us);
}

// The program collects on all ranks, in a line that is not to blame.
TEST(HostBound, SaysThatAllRanksCollectGarbage) {
  const std::string line = "<module> (train.py:7)", code = "idle_between_computations";
  const Finding collects = finding(looked_at(300, line, line, Threads::ran, "garbage collection"), code);
  EXPECT_EQ(collects.title, "between their computations ranks collect garbage above all");
  EXPECT_EQ(collects.accuses, Accused::nobody);
  // 300 and 100 µs in each of 12 steps.
  EXPECT_THAT(collects.evidence, testing::Contains("4.80 ms of 4.80 ms of the time between computations is "
                                                   "garbage collection"));
  EXPECT_THAT(collects.remedy, testing::HasSubstr("gc.freeze()"));
  // Where one rank has most of that time, it is most of the time all the same, though no line stands out.
  const Finding of_most = finding(garbage_of_rank_1(), code);
  EXPECT_EQ(of_most.title, "between their computations ranks collect garbage above all");
  EXPECT_THAT(of_most.evidence, testing::Contains("3.60 ms of 4.80 ms of the time between computations is "
                                                  "garbage collection"));
}

// Seen of a parameter server: the one rank with an optimizer has steps, and the workers have none. Nothing is
// compared with nothing.
TEST(HostBound, WhereTheOthersHaveNoStepsNobodyIsAccused) {
  const auto of = [](int marked_0, Threads threads = Threads::not_looked_at) {
    return finding(looked_at(300, "step (train.py:7)", "log (train.py:31)", threads, nullptr, marked_0, true),
                   "idle_between_computations");
  };
  const Finding alone = of(0);
  EXPECT_EQ(alone.title, "between its computations rank 1 is in `log (train.py:31)` above all");
  EXPECT_EQ(alone.accuses, Accused::nobody);
  EXPECT_EQ(alone.rank, std::nullopt);
  EXPECT_EQ(alone.evidence.front(), "3.00 ms of 10.1 ms, all on rank 1")
      << "of 10 steady steps; of rank 0 there is no least";
  EXPECT_THAT(alone.evidence,
              testing::Contains("no other rank has steps: there is nothing to compare it with"));
  EXPECT_EQ(of(0, Threads::ran).title,
            "rank 1 is in `log (train.py:31)` above all where the trace knows no computation");
  // Of all of its time rank 0 is in another line: seen of a server over RPC, named for a line of its workers.
  const Finding over_all = finding(
      looked_at(300, "serve (ps.py:9)", "log (train.py:31)", Threads::not_looked_at, nullptr, 0, false),
      "idle_between_computations");
  EXPECT_THAT(over_all.title, testing::Not(testing::HasSubstr("rank 1")));
  EXPECT_EQ(of(9).accuses, Accused::nobody) << "three quarters of its steps";
  EXPECT_EQ(of(10).accuses, Accused::rank);
}

TEST(HostBound, WaitingForACoreIsNotWhatALineDoes) {
  const std::string line = "step (train.py:7)", code = "idle_between_computations";
  EXPECT_THAT(codes_of(looked_at(300, line, line, Threads::ran).findings), testing::Contains(code));
  EXPECT_THAT(codes_of(looked_at(300, line, line, Threads::waited_for_a_core).findings),
              testing::Not(testing::Contains(code)));
  // Of both ranks' 24 ms: 100 and 300 µs in each of 12 steps.
  EXPECT_EQ(finding(looked_at(300, line, line, Threads::slept), code).lost_ns, 12 * 400 * us);
}

// What all ranks lose there is worth telling, and it is not the one rank's: that one had no core.
TEST(HostBound, WhoHadNoCoreIsNotNamedForALine) {
  const auto looked = [](Threads threads) {
    return finding(looked_at(300, "step (train.py:7)", "log (train.py:31)", threads),
                   "idle_between_computations");
  };
  EXPECT_EQ(looked(Threads::slept).rank, 1);
  const Finding waited = looked(Threads::rank_1_waited);
  EXPECT_EQ(waited.rank, std::nullopt);
  EXPECT_EQ(waited.accuses, Accused::nobody);
  EXPECT_THAT(waited.title, testing::Not(testing::HasSubstr("train.py")));
  EXPECT_EQ(waited.lost_ns, 12 * 100 * us);
}

// Of steps that evaluate, where they are looked at: the account has a name for that.
TEST(HostBound, EvaluationIsNotWhatALineDoes) {
  const std::string line = "step (train.py:7)", code = "idle_between_computations";
  EXPECT_THAT(codes_of(looked_at(300, line, line, Threads::ran, "tokenize").findings),
              testing::Contains(code));
  EXPECT_THAT(codes_of(looked_at(300, line, line, Threads::ran, "evaluation: validate").findings),
              testing::Not(testing::Contains(code)));
}

// Seen of a program that imports an optimizer within its first step: over all steps that was the headline.
TEST(HostBound, StartUpIsNotWhatALineDoes) {
  const std::string line = "step (train.py:7)", code = "idle_between_computations";
  EXPECT_THAT(codes_of(looked_at(300, line, line, Threads::ran, "start-up: imports").findings),
              testing::Not(testing::Contains(code)));
  JobBuilder job;
  for (int rank = 0; rank < 2; ++rank) {
    job.rank(rank).trace().device = "cpu";
    job.rank(rank).trace().ending.recorded_until = 14'000 * us;
    // What all gather first, 4 ms before they compute.
    job.rank(rank).collective(Operation::all_gather, 0, 10 * us).launched(0, 1 * us);
    for (int step = 0; step < 10; ++step) {
      const Nanoseconds begin = step == 0 ? 0 : (4000 + step * 1000) * us, end = (5000 + step * 1000) * us;
      job.rank(rank).step(step, begin, end);
      job.rank(rank).compute(end - 1000 * us, end - 100 * us).launched(end - 1000 * us, end - 999 * us);
      job.rank(rank).all_reduce(end - 100 * us, end).launched(end - 100 * us, end - 99 * us);
    }
  }
  EXPECT_THAT(codes_of(checked_analysis(job.build(), {}).report.findings),
              testing::Not(testing::Contains(code)));
}

// Seen of k-means and of a rollout on busy cores: "shorten it, or do it beside training" was said of the work
// itself.
TEST(HostBound, WhereLooksLeaveOpenWhetherThreadsRanItMayBeComputation) {
  const std::string line = "step (train.py:7)", code = "idle_between_computations";
  const Finding found = finding(looked_at(300, line, line, Threads::ran_or_slept), code);
  EXPECT_EQ(found.title, "ranks are in `step (train.py:7)` above all where the trace knows no computation");
  EXPECT_THAT(found.evidence,
              testing::Contains(testing::HasSubstr(
                  "their threads may have run for half of that time, which looks at them do not tell")));
  EXPECT_THAT(found.remedy, testing::HasSubstr("What it computes is part of the job's work"));
}

// A teacher's forward pass is no idling: threads run, in a function that PyTorch calls so.
TEST(HostBound, AForwardPassThatNothingNamesIsANote) {
  const std::string forward = "forward (gpt.py:12)", code = "idle_between_computations";
  const Finding computes = finding(looked_at(300, forward, forward, Threads::ran), code);
  EXPECT_EQ(computes.severity, "note");
  EXPECT_EQ(computes.lost_ns, 0);
  EXPECT_EQ(computes.title,
            "ranks are in `forward (gpt.py:12)` above all where the trace knows no computation");
  EXPECT_THAT(computes.remedy, testing::HasSubstr("is not recorded as computation"));
  EXPECT_NE(finding(looked_at(300, forward, forward, Threads::slept), code).severity, "note");
  const std::string line = "step (train.py:7)";
  EXPECT_NE(finding(looked_at(300, line, line, Threads::ran), code).severity, "note");
}

// A teacher that is no module of the program's own is called in a line of the loop: PyTorch's code is not
// looked at.
TEST(HostBound, WhereThreadsRunNobodySaysThatNothingIsComputed) {
  const std::string line = "step (train.py:7)", code = "idle_between_computations";
  const Finding ran = finding(looked_at(300, line, line, Threads::ran), code);
  EXPECT_EQ(ran.title, "ranks are in `step (train.py:7)` above all where the trace knows no computation");
  EXPECT_THAT(ran.evidence, testing::Contains(testing::HasSubstr("in computation that is not recorded")));
  EXPECT_THAT(ran.remedy,
              testing::HasSubstr("`lockstep record --operators` tells what PyTorch computes there"));
  EXPECT_EQ(ran.accuses, Accused::nobody);
  const Finding slept = finding(looked_at(300, line, line, Threads::slept), code);
  EXPECT_EQ(slept.title, "between their computations ranks are in `step (train.py:7)` above all");
  EXPECT_THAT(slept.remedy, testing::HasSubstr("outside of the computations that the trace knows"));
}

// Seen of torch.func.grad: no backward pass, no optimizer, and all that was computed was "lost".
TEST(HostBound, WhatIsComputedUnknownIsNotLost) {
  JobBuilder builder;
  for (int rank = 0; rank < 2; ++rank) {
    builder.rank(rank).trace().device = "cpu";
    for (int step = 0; step < 12; ++step) {
      const Nanoseconds begin = step * 1000 * us;
      builder.rank(rank).step(step, begin, begin + 1000 * us);
      builder.rank(rank)
          .all_reduce(begin + 900 * us, begin + 1000 * us)
          .launched(begin + 900 * us, begin + 900 * us);
    }
  }
  Job job = builder.build();
  const std::uint32_t line = job.strings.intern("<module> (maml.py:12)");
  for (RankTrace& rank : job.ranks) {
    SchedulingPoint point;
    point.known = true;
    rank.scheduling.push_back(point);
    for (int step = 0; step < 12; ++step) {
      const Nanoseconds begin = step * 1000 * us;
      rank.host_ranges.push_back({begin + 400 * us, begin + 450 * us, line, 0, 0, HostKind::python_place});
      point.time = begin + 900 * us;
      point.on_cpu_ns += 900 * us;
      rank.scheduling.push_back(point);
      point.time = begin + 1000 * us;
      rank.scheduling.push_back(point);
    }
  }
  // How much of that time their threads ran makes no difference to what is known.
  Job without_scheduling = job;
  for (RankTrace& rank : without_scheduling.ranks) rank.scheduling.clear();
  EXPECT_THAT(finding(report_of(without_scheduling), "idle_between_computations").title,
              testing::HasSubstr("hardly any computation of this program was recognized"));
  const Finding found = finding(report_of(job), "idle_between_computations");
  EXPECT_EQ(
      found.title,
      "hardly any computation of this program was recognized; ranks are in `<module> (maml.py:12)` above all");
  EXPECT_EQ(found.severity, "note");
  EXPECT_EQ(found.lost_ns, 0);
  EXPECT_THAT(found.remedy, testing::HasSubstr("lockstep record --operators"));
}

}  // namespace
}  // namespace lockstep::analyzer
