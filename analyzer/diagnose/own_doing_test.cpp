#include "analyzer/diagnose/own_doing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Two ranks of a host, 40 steps. A rank computes for 2 ms, and waits for a core for `waits` µs of its
// computation; rank 1 then does what has no name for `idle` µs, of which it waits for `idle_waits`, and both
// meet. What else there is moves by a millisecond from step to step.
struct Shared {
  Nanoseconds waits_0 = 1000, waits_1 = 1000;
  Nanoseconds more_1 = 0;  // that rank 1 computes on a core
  Nanoseconds idle = 0, idle_waits = 0;
  std::string cores_1 = "0-1";
};
Report report_of(const Shared& host) {
  JobBuilder job;
  SchedulingPoint looks[2] = {{0, 0, 0, 0, false}, {0, 0, 0, 0, false}};
  for (int rank = 0; rank < 2; ++rank) {
    RankTrace& trace = job.rank(rank).trace();
    trace.device = "cpu";
    trace.host = "node0";
    trace.core_set = rank == 0 ? "0-1" : host.cores_1;
    trace.scheduling = {looks[rank]};
  }
  const auto look = [&](int rank, Nanoseconds time, Nanoseconds ran, Nanoseconds waited) {
    SchedulingPoint& next = looks[rank];
    next.time = time * us;
    next.on_cpu_ns += ran * us;
    next.runnable_ns += waited * us;
    next.waited_ns += waited * us;
    next.known = true;
    job.rank(rank).trace().scheduling.push_back(next);
  };
  Nanoseconds begin = 0;
  for (int step = 0; step < 40; ++step) {
    const Nanoseconds moves = (step * 7 % 5) * 250;
    Nanoseconds ready[2];
    for (int rank = 0; rank < 2; ++rank) {
      const Nanoseconds waits = rank == 0 ? host.waits_0 : host.waits_1;
      const Nanoseconds more = rank == 0 ? 0 : host.more_1;
      const Nanoseconds computed = begin + 2000 + more + waits + (rank == 0 ? moves : 1000 - moves);
      const Nanoseconds idle = rank == 1 ? host.idle : 0;
      job.rank(rank).compute(begin * us, computed * us).launched(begin * us, begin * us);
      look(rank, computed, computed - begin - waits, waits);
      ready[rank] = computed + idle;
      if (idle > 0) look(rank, ready[rank], 0, host.idle_waits);
    }
    const Nanoseconds end = std::max(ready[0], ready[1]) + 100;
    for (int rank = 0; rank < 2; ++rank) {
      job.rank(rank).all_reduce(ready[rank] * us, end * us).launched(ready[rank] * us, ready[rank] * us);
      job.rank(rank).step(step, begin * us, end * us);
      look(rank, end, 0, 0);
    }
    begin = end;
  }
  return report_of(job);
}

TEST(OwnDoing, SleepOnAHostWithTooFewCoresIsTheRanksOwn) {
  const Report report = report_of({.idle = 3000});
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "blocked");
  EXPECT_THAT(late.title,
              HasSubstr("rank 1 sleeps or is blocked for 3.00 ms longer between its computations"));
  // It is said once, and the host's jitter is the host's.
  EXPECT_THAT(codes_of(report.findings), Not(Contains("idle_between_computations")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("jitter")));
}

TEST(OwnDoing, WhatTakesLongerForWantOfACoreIsNot) {
  const Report report = report_of({.idle = 3000, .idle_waits = 2900});
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
}

// Seen of DeepSpeed on loaded cores: half of what one rank was late by was its wait for a core.
TEST(OwnDoing, WhatTakesLongerByHalfForWantOfACoreIsNot) {
  const Report report = report_of({.idle = 3000, .idle_waits = 1600});
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
}

TEST(OwnDoing, OneThatGetsLessOfTheSameCoresIsNot) {
  const Report report = report_of({.waits_1 = 4000});
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
}

// Seen of an extra matrix product in each step, on half as many cores as ranks: a quarter and more of what
// the rank was late by was its wait for a core, and nobody was named.
TEST(OwnDoing, WhatIsComputedLongerOnACoreIs) {
  const Report report = report_of({.waits_1 = 2500, .more_1 = 3000});
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(codes_of(report_of({.waits_1 = 4000, .more_1 = 1000}).findings),
              Not(Contains("straggler_persistent")))
      << "most of it is the wait";
  EXPECT_THAT(codes_of(report_of({.waits_0 = 3000, .waits_1 = 3400, .more_1 = 1000}).findings),
              Not(Contains("straggler_persistent")))
      << "less than a quarter of what the others compute";
}

TEST(OwnDoing, OneThatMayUseFewerCoresIs) {
  const Report report = report_of({.waits_1 = 4000, .cores_1 = "1"});
  const Finding late = finding(report, "straggler_persistent");
  EXPECT_EQ(late.rank, 1);
  EXPECT_EQ(late.reason, "waits_for_core");
}

TEST(HasFewerCores, ComparesWithTheRanksOfItsHost) {
  Job job;
  for (const char* const cores : {"0-1", "1", "0-1"}) {
    RankTrace trace;
    trace.rank = static_cast<std::int32_t>(job.ranks.size());
    trace.host = "a";
    trace.core_set = cores;
    job.ranks.push_back(trace);
  }
  EXPECT_TRUE(has_fewer_cores(job, 1));
  EXPECT_FALSE(has_fewer_cores(job, 0));
  EXPECT_FALSE(has_fewer_cores(job, 9));
  job.ranks[2].core_set = "1";
  EXPECT_FALSE(has_fewer_cores(job, 1)) << "it is not the only one";
  job.ranks[0].host = job.ranks[2].host = "b";
  EXPECT_FALSE(has_fewer_cores(job, 1)) << "alone on its host";
}

}  // namespace
}  // namespace lockstep::analyzer
