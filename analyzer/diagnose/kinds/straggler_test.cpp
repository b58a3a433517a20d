// A rank that comes late, and others that wait for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "analyzer/diagnose/test_reports.h"
#include "analyzer/model/pipeline_job.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Findings, APersistentStraggler) {
  const Report report = report_of(straggling_job(12, 2, 100));
  const Finding straggler = finding(report, "straggler_persistent");
  EXPECT_THAT(straggler.title,
              HasSubstr("rank 2 computes 33.6 % longer, above all in `layer`: the others wait for it ("));
  EXPECT_EQ(straggler.reason, "computes_longer");
  EXPECT_EQ(straggler.lost_ns, 12 * (102 + 101 + 99) * us);
  std::int64_t windows = 0;
  for (const RankReport& rank : report.ranks) windows += rank.measures.window_ns;
  EXPECT_DOUBLE_EQ(straggler.lost_share,
                   static_cast<double>(straggler.lost_ns) / static_cast<double>(windows));
  EXPECT_THAT(straggler.evidence, Contains(HasSubstr("it computed for 402 µs")));
  EXPECT_THAT(straggler.evidence, Contains(HasSubstr("3.62 ms for it, and compute hid none of it")));
}

TEST(Findings, WaitingUnderComputeIsNoLoss) {
  JobBuilder job = straggling_job(12, 2, 100);
  for (std::int32_t rank : {0, 1, 3}) job.rank(rank).compute(0, 12'000 * us, "other stream").launched(-2, -1);
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("straggler_persistent")));
}

TEST(Findings, FewStepsConvictNobody) {
  for (const int steps : {1, 2, 4, 5}) {
    const Report report = report_of(straggling_job(steps, 2, 100));
    for (const Finding& one : report.findings) EXPECT_NE(one.accuses, Accused::rank) << one.code;
    EXPECT_FALSE(report.lateness.can_tell);
    const Finding imbalance = finding(report, "imbalance");
    EXPECT_THAT(imbalance.title, HasSubstr("too little to say"));
    EXPECT_THAT(imbalance.remedy, HasSubstr("record 6 steps or more"));
  }
}

// Steps of four ranks that compute, load data before, and meet: `extra` of rank 2, by step.
struct Extra {
  Nanoseconds compute = 0, loading = 0;
};
Report late_in_steps(
    int steps, const std::function<Extra(int)>& extra,
    const std::function<void(Job&)>& change = [](Job&) {}) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    for (int step = 0; step < steps; ++step) {
      const Extra own = rank == 2 ? extra(step) : Extra{};
      const Nanoseconds begin = step * 3000 * us, loaded = begin + 200 * us + own.loading;
      const Nanoseconds jitter = (step * 7 + rank * 5) % 9 * us;
      const Nanoseconds ready = loaded + 1000 * us + own.compute + jitter;
      job.rank(rank).step(step, begin, begin + 2990 * us);
      job.rank(rank).data_loading(begin, loaded);
      job.rank(rank).compute(loaded, ready, "layer").launched(loaded - 1, loaded);
      job.rank(rank).all_reduce(ready, begin + 2500 * us).launched(loaded, loaded + 1);
    }
  }
  Job built = job.build();
  change(built);
  return report_of(built);
}

TEST(Findings, ARankThatBecomesSlowIsLateFromThatStepOn) {
  const Report report =
      late_in_steps(40, [](int step) { return Extra{.compute = step >= 24 ? 400 * us : 0}; });
  const Finding since = finding(report, "straggler_since");
  EXPECT_EQ(since.rank, 2);
  EXPECT_EQ(since.reason, "computes_longer");
  EXPECT_EQ(since.accuses, Accused::rank);
  EXPECT_THAT(since.title, HasSubstr("from step 24 on rank 2 computes 39."));
  EXPECT_THAT(since.title, HasSubstr(": the others wait for it (13."));
  EXPECT_THAT(since.evidence.at(0), HasSubstr("over 16 steps it is ready 401 µs later"));
  EXPECT_THAT(since.evidence.at(0), HasSubstr("; before step 24 it was ready"));
  EXPECT_THAT(since.title, Not(HasSubstr("longer and longer")));
  for (const std::string& said : since.evidence) EXPECT_THAT(said, Not(HasSubstr("it grows")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("jitter")));
}

// Seen of a sleep from step 80 on, which was to be seen in the first operation of the job.
TEST(Findings, ARankThatBecomesSlowIsSeenWhereItIs) {
  const Report report = late_in_steps(40, [](int step) {
    return Extra{.compute = step >= 24 ? 400 * us : step == 3 ? 1200 * us : 0};
  });
  const Finding since = finding(report, "straggler_since");
  ASSERT_TRUE(since.place.has_value() && since.place->step.has_value());
  EXPECT_GE(*since.place->step, 24);
  EXPECT_TRUE(since.place->collective.has_value());
}

// A list that a rank looks through in every step, and that gets longer.
TEST(Findings, LatenessThatGrowsIsNotToldAsAJumpAlone) {
  const Report report =
      late_in_steps(60, [](int step) { return Extra{.compute = step >= 10 ? (step - 10) * 20 * us : 0}; });
  const Finding since = finding(report, "straggler_since");
  EXPECT_THAT(since.title, HasSubstr(": the others wait for it longer and longer ("));
  EXPECT_THAT(since.evidence.at(1), HasSubstr("it grows: "));
  EXPECT_THAT(since.evidence.at(1), HasSubstr("in the last (medians)"));
  const Finding throughout =
      finding(late_in_steps(60, [](int step) { return Extra{.compute = (40 + step) * 10 * us}; }),
              "straggler_persistent");
  EXPECT_THAT(throughout.title, HasSubstr(": the others wait for it longer and longer ("));
}

// In its mean over all steps it is late as well; what is said is the rhythm, and what it does then.
TEST(Findings, LatenessOnceInTenStepsHasItsPeriodAndItsCause) {
  const Report report =
      late_in_steps(200, [](int step) { return Extra{.compute = step % 10 == 4 ? 1000 * us : 0}; });
  const Finding periodic = finding(report, "straggler_periodic");
  EXPECT_EQ(periodic.rank, 2);
  EXPECT_EQ(periodic.reason, "computes_longer");
  EXPECT_THAT(periodic.title, HasSubstr("every 10 steps rank 2 computes 9"));
  EXPECT_THAT(periodic.evidence.at(0), HasSubstr("late once in 10 steps, from step 4 on, 20 times"));
  EXPECT_THAT(periodic.evidence, Contains(HasSubstr("over all steps the others waited ")));
  EXPECT_THAT(periodic.remedy, HasSubstr("look for what rank 2 does once in 10 steps"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
}

// Who knows the line looks for nothing.
TEST(Findings, LatenessOnceInTenStepsIsToBeSeenInItsLineWhereThatIsNamed) {
  const auto look = [](Job& job) {
    const std::uint32_t loop = job.strings.intern("train (env.py:30)");
    const std::uint32_t slow = job.strings.intern("step (env.py:13)");
    for (RankTrace& rank : job.ranks) {
      rank.device = "cpu";
      for (const StepMark& step : rank.steps)
        for (Nanoseconds at = 0; at < 2900 * us; at += 100 * us) {
          const bool is_slow = rank.rank == 2 && step.number % 10 == 4 && at >= 1200 * us && at < 2200 * us;
          rank.host_ranges.push_back({step.begin + at, step.begin + at + 100 * us, is_slow ? slow : loop, 0,
                                      0, HostKind::python_place});
        }
      std::stable_sort(rank.host_ranges.begin(), rank.host_ranges.end(),
                       [](const HostRange& a, const HostRange& b) { return a.begin < b.begin; });
    }
  };
  const Report report = late_in_steps(
      200, [](int step) { return Extra{.compute = step % 10 == 4 ? 1000 * us : 0}; }, look);
  const Finding periodic = finding(report, "straggler_periodic");
  EXPECT_THAT(periodic.title, HasSubstr("above all in `step (env.py:13)`"));
  EXPECT_THAT(periodic.remedy,
              HasSubstr("see why rank 2 takes longer in `step (env.py:13)` once in 10 steps; if it alone"));
  EXPECT_THAT(periodic.remedy, Not(HasSubstr("look for what")));
}

// What a loop without a wrapper does with gradients is in its range `optimizer`, and so is whatever else
// stands between its backward pass and its optimizer: seen of a busy loop there.
TEST(Findings, OfTheRangeOptimizerItsEndsAreSaid) {
  const auto rename = [](Job& job) {
    const std::uint32_t name = job.strings.intern("optimizer");
    for (RankTrace& rank : job.ranks) {
      rank.device = "cpu";
      for (Activity& activity : rank.activities)
        if (activity.activity_class == Class::compute) activity.name = name;
    }
  };
  const Report report = late_in_steps(
      200, [](int step) { return Extra{.compute = step % 10 == 4 ? 1000 * us : 0}; }, rename);
  EXPECT_THAT(
      finding(report, "straggler_periodic").title,
      HasSubstr("above all between its backward pass and the end of its optimizer's step: the others"));
}

// Its pipeline makes the other stage wait as well: with equal stages for a fifth of the time.
TEST(Findings, OfAStagesWaitsOnlyItsOwnExcessIsLost) {
  JobBuilder job;
  PipelinePlan plan{.stages = 2,
                    .order = one_forward_one_backward(2, 4),
                    .forward = 100 * us,
                    .backward = 200 * us,
                    .slow_stage = 0,
                    .slower_by = 20 * us};
  constexpr Nanoseconds kLonger = 8 * 20 * us;  // in each step
  const std::uint32_t group = job.group(plan.group, ranks_of(plan));
  constexpr int kSteps = 20;
  Nanoseconds end = 0;
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds begin = end;
    plan.begin = begin + 10 * us;
    end = add_pipeline_step(job, group, plan) + 10 * us;
    for (const std::int32_t rank : ranks_of(plan)) job.rank(rank).step(step, begin, end);
  }
  // All that it computes more may be waiting for a core: unbalanced_stages doesn't stand.
  for (const std::int32_t rank : ranks_of(plan)) {
    RankTrace& trace = job.rank(rank).trace();
    trace.device = "cpu";
    for (Activity& activity : trace.activities) activity.launch_begin = activity.launch_end = activity.begin;
    SchedulingPoint first{.time = 0}, last{.time = end};
    last.on_cpu_ns = last.time / 2;
    last.runnable_ns = last.waited_ns = kSteps * kLonger;
    trace.scheduling = {first, last};
  }
  const Report report = report_of(job);
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 0);
  std::int64_t waited = 0;
  for (const BlameReport& blame : report.blame)
    if (blame.rank == 0) waited = blame.exposed_ns;
  EXPECT_EQ(late.lost_ns, kSteps * kLonger);
  // What a late stage does is bubble of the others: no cause beside it.
  EXPECT_TRUE(finding(report, "pipeline_bubble").is_note);
  EXPECT_GT(waited, kSteps * kLonger);
}

// Twenty steps of four ranks on GPUs whose hosts launch a kernel of 10 µs every `pace`, 20 a step; what rank
// 2 does is given.
Report host_bound_ranks(int kernels_of_2, Nanoseconds pace_of_2) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    job.rank(rank).trace().device = "cuda:0";
    job.rank(rank).trace().device_uuid = "GPU-" + std::to_string(rank);
    const int kernels = rank == 2 ? kernels_of_2 : 20;
    const Nanoseconds pace = rank == 2 ? pace_of_2 : 100 * us;
    for (int step = 0; step < 20; ++step) {
      const Nanoseconds begin = step * 5000 * us, jitter = (step * 7 + rank * 5) % 9 * us;
      job.rank(rank).step(step, begin, begin + 4900 * us);
      Nanoseconds time = begin + jitter;
      for (int kernel = 0; kernel < kernels; ++kernel, time += pace)
        job.rank(rank)
            .compute(time + 5 * us, time + 15 * us, "gemm")
            .launched(time, time + 3 * us)
            .in_step(static_cast<std::uint32_t>(step));
      job.rank(rank).all_reduce(time + 5 * us, begin + 4500 * us).launched(time, time + 3 * us);
    }
  }
  return report_of(job);
}

TEST(Findings, AHostThatHasMoreToLaunchIsNoSlowHost) {
  const Finding late = finding(host_bound_ranks(40, 100 * us), "straggler_persistent");
  EXPECT_EQ(late.rank, 2);
  EXPECT_EQ(late.reason, "more_launches");
  EXPECT_THAT(late.title, HasSubstr("rank 2 has more to launch than the others ("));
  EXPECT_THAT(
      late.evidence,
      Contains(HasSubstr("it launches 2.00 times as much as the others (kernels, or graphs of them)")));
}

TEST(Findings, AHostThatLaunchesAsMuchMoreSlowlyIsSlow) {
  const Finding late = finding(host_bound_ranks(20, 200 * us), "straggler_persistent");
  EXPECT_EQ(late.rank, 2);
  EXPECT_EQ(late.reason, "host");
  // A few launches more do not explain it.
  EXPECT_EQ(finding(host_bound_ranks(25, 170 * us), "straggler_persistent").reason, "host");
}

// Neither of the two makes up what it is late by.
TEST(Findings, TwoCausesAreBothSaid) {
  const Report report =
      late_in_steps(20, [](int) { return Extra{.compute = 210 * us, .loading = 190 * us}; });
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(late.title, HasSubstr("rank 2 computes 2"));
  EXPECT_THAT(late.title, HasSubstr(", and loads data for 181 µs longer"));
}

// Nothing was recorded of what a rank does before it comes: no launch, no range of its host.
TEST(Findings, OfALateRankOfUnknownReasonThatIsSaid) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    for (int step = 0; step < 12; ++step) {
      const Nanoseconds begin = step * 1000 * us;
      job.rank(rank).step(step, begin, begin + 900 * us).compute(begin, begin + 300 * us);
      job.rank(rank).all_reduce(begin + (rank == 2 ? 500 : 300) * us, begin + 700 * us);
    }
  }
  const Finding late = finding(report_of(job), "straggler_persistent");
  EXPECT_EQ(late.rank, 2);
  EXPECT_EQ(late.reason, "unknown");
  EXPECT_THAT(late.title, HasSubstr("rank 2 comes late, and why is not known"));
  EXPECT_THAT(late.remedy, HasSubstr("record rank 2 with launches and host ranges"));
}

// A counter of tokens tells that the late rank has more to do; the same lateness without it is no evidence of
// that.
TEST(Findings, MoreWorkNeedsEvidence) {
  for (const bool counted : {false, true}) {
    JobBuilder job = straggling_job(12, 2, 100);
    for (std::int32_t rank = 0; counted && rank < 4; ++rank) {
      CounterTrack tokens{"tokens", {}};
      for (int step = 0; step < 12; ++step)
        tokens.points.push_back({step * 1000 * us + 800 * us, rank == 2 ? 1330.0 : 1000.0});
      job.rank(rank).trace().counters.push_back(tokens);
    }
    const Finding late = finding(report_of(job), "straggler_persistent");
    EXPECT_EQ(late.reason, counted ? "more_work" : "computes_longer");
    EXPECT_THAT(late.title,
                HasSubstr(counted ? "rank 2 has more to compute" : "rank 2 computes 33.6 % longer"));
  }
}

}  // namespace
}  // namespace lockstep::analyzer
