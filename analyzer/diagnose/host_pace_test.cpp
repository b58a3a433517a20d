// What a late rank costs where GPUs run behind their hosts.
#include "analyzer/diagnose/host_pace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analyzer/diagnose/job_lateness.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr int kSteps = 40;

struct Host {
  Nanoseconds works = 1000 * us;  // in a step; the rest of it, it waits for its GPU
  Nanoseconds lead = 0;           // its operations are launched so much before they begin
};

// Steps of `step` that end with an all-reduce of 50 µs after rank 1, whose GPU begins to compute for 100 µs
// when its host has launched that: rank 0's waits in the all-reduce from `waits` before its end on.
Job two_ranks(Nanoseconds step_ns, Nanoseconds waits, const Host& first, const Host& second) {
  JobBuilder job;
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds begin = step * step_ns, end = begin + step_ns;
    const auto rank = [&](std::int32_t number, const Host& host, Nanoseconds arrives) {
      const Nanoseconds launched = begin - host.lead;
      RankBuilder& builder = job.rank(number);
      builder.step(step, launched, launched + step_ns);
      builder.sync(launched + host.works, launched + step_ns);
      builder.compute(begin, begin + us).launched(launched, launched + us);
      builder.compute(arrives - 100 * us, arrives)
          .launched(arrives - 110 * us - host.lead, arrives - 105 * us - host.lead);
      builder.all_reduce(arrives, end)
          .launched(arrives - 104 * us - host.lead, arrives - 102 * us - host.lead);
    };
    // Noise of a few µs, never the same for long.
    const Nanoseconds noise = (step * 7 % 5) * us;
    rank(0, first, end - 50 * us - waits - noise);
    rank(1, second, end - 50 * us);
  }
  return job.build();
}

std::vector<std::int64_t> lateness_of(const Job& job, std::int32_t rank) {
  const Report report = report_of(job);
  const StepTable table = table_of_steps(job, report);
  std::vector<std::int64_t> late;
  for (std::size_t step = 0; step < table.steps.size(); ++step)
    late.push_back(table.late(step, static_cast<std::size_t>(rank)));
  return late;
}

TEST(HostPace, IsTheTimeOfAStepWithoutWaitingForTheGpu) {
  const Job job = two_ranks(1000 * us, 300 * us, {700 * us, 0}, {900 * us, 0});
  const HostPace pace(job);
  EXPECT_EQ(pace.own_ns(0, 5), 700 * us);
  EXPECT_EQ(pace.own_ns(1, 5), 900 * us);
  EXPECT_EQ(pace.own_ns(1, kSteps), std::nullopt);
  EXPECT_EQ(pace.own_ns(2, 5), std::nullopt);
  EXPECT_FALSE(pace.shares_gpu(0));
}

TEST(HostPace, CountsCallsThatWaitForRoomInTheQueueAndNoShortOnes) {
  JobBuilder job;
  job.rank(0).step(0, 0, 1000 * us).step(1, 1000 * us, 2000 * us).sync(900 * us, 910 * us);
  job.rank(0).compute(500 * us, 600 * us).launched(100 * us, 300 * us);
  job.rank(0).compute(600 * us, 700 * us).launched(310 * us, 319 * us);
  job.rank(0).host_range(400 * us, 550 * us, "cudaMemcpyAsync");
  job.rank(0).host_range(550 * us, 750 * us, "forward");
  EXPECT_EQ(HostPace(job.build()).own_ns(0, 0), (1000 - 10 - 200 - 150) * us);
}

TEST(HostPace, IsNotKnownWhereHostsMayWaitUnseen) {
  const auto own = [](void (*change)(RankBuilder&)) {
    JobBuilder job;
    job.rank(0).step(0, 0, 1000 * us).compute(500 * us, 600 * us).launched(100 * us, 110 * us);
    change(job.rank(0));
    return HostPace(job.build()).own_ns(0, 0);
  };
  EXPECT_EQ(own([](RankBuilder& rank) { rank.sync(900 * us, 950 * us); }), 950 * us);
  // No wait at all was recorded; launches are not known; a collective of the host; no GPU.
  EXPECT_EQ(own([](RankBuilder&) {}), std::nullopt);
  EXPECT_EQ(own([](RankBuilder& rank) { rank.sync(900 * us, 950 * us).compute(700 * us, 710 * us); }),
            std::nullopt);
  EXPECT_EQ(own([](RankBuilder& rank) {
              rank.sync(900 * us, 950 * us).all_reduce(700 * us, 710 * us).launched(650 * us, 651 * us);
              rank.trace().activities.back().lane = 0;
            }),
            std::nullopt);
  EXPECT_EQ(own([](RankBuilder& rank) {
              rank.sync(900 * us, 950 * us);
              rank.trace().lanes[1].kind = trace::LaneKind::compute_thread;
            }),
            std::nullopt);
}

// Both hosts work for all of the step; rank 0's launched 20 ms earlier once, and its GPU waits for 600 µs of
// each.
TEST(HostPace, HostsThatAreEquallyFastMakeNobodyLate) {
  const Job job = two_ranks(1000 * us, 600 * us, {990 * us, 20'000 * us}, {990 * us, 0});
  for (const std::int64_t late : lateness_of(job, 1)) EXPECT_LE(late, 10 * us);
  const Report report = report_of(job);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("jitter")));
  // The waiting is told of with what it comes from.
  const Finding host_bound = finding(report, "host_bound");
  EXPECT_GE(host_bound.lost_ns, kSteps * 1400 * us);
}

// Rank 0's host has 600 µs left in each step: rank 1 costs as much.
TEST(HostPace, ASlowHostIsLateByWhatTheOthersHaveLeft) {
  const Job job = two_ranks(1000 * us, 800 * us, {400 * us, 20'000 * us}, {990 * us, 0});
  for (const std::int64_t late : lateness_of(job, 1)) EXPECT_EQ(late, 600 * us);
  const Finding straggler = finding(report_of(job), "straggler_persistent");
  EXPECT_EQ(straggler.rank, 1);
}

// A fifth slower than the other: a core may be.
TEST(HostPace, AHostThatIsALittleSlowerIsNotLate) {
  const Job job = two_ranks(1000 * us, 300 * us, {825 * us, 0}, {990 * us, 0});
  for (const std::int64_t late : lateness_of(job, 1)) EXPECT_EQ(late, 0);
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("straggler_persistent")));
}

// Whose GPU computes longer is late by all that the others wait, however far the hosts have run ahead.
TEST(HostPace, AGpuThatComputesLongerIsLate) {
  const Job job = two_ranks(1000 * us, 300 * us, {200 * us, 5000 * us}, {200 * us, 5000 * us});
  for (const std::int64_t late : lateness_of(job, 1)) EXPECT_GE(late, 300 * us);
}

// The result does not depend on who is called rank 0.
TEST(HostPace, NumbersOfRanksDoNotMatter) {
  Job job = two_ranks(1000 * us, 300 * us, {825 * us, 0}, {700 * us, 0});
  const std::vector<std::int64_t> late = lateness_of(job, 1);
  std::swap(job.ranks[0], job.ranks[1]);
  job.ranks[0].rank = 0;
  job.ranks[1].rank = 1;
  EXPECT_EQ(lateness_of(job, 0), late);
}

// Of eight ranks three hold five up for 600 µs in each step, and all hosts work for all of it: nobody is
// late, and what the five waited is told of once.
TEST(HostPace, WhatRanksWaitedForSeveralIsCountedOnce) {
  JobBuilder job;
  for (int step = 0; step < kSteps; ++step)
    for (std::int32_t rank = 0; rank < 8; ++rank) {
      const Nanoseconds begin = step * 1000 * us, arrives = begin + (rank < 3 ? 900 : 300) * us;
      RankBuilder& builder = job.rank(rank);
      builder.step(step, begin, begin + 1000 * us).sync(begin + 990 * us, begin + 1000 * us);
      builder.compute(begin, begin + 100 * us).launched(begin, begin + us);
      builder.all_reduce(arrives, begin + 950 * us).launched(arrives - 3 * us, arrives - us);
    }
  const Job built = job.build();
  const Report report = report_of(built);
  const StepTable table = table_of_steps(built, report);
  ASSERT_EQ(table.behind_hosts_ns.size(), table.steps.size());
  for (const std::int64_t behind : table.behind_hosts_ns) EXPECT_EQ(behind, 5 * 600 * us);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("jitter")));
}

// As other importers name the lanes: a communicator's stream is one.
TEST(HostPace, IsKnownOfStreamsByAnyName) {
  Job job = two_ranks(1000 * us, 300 * us, {700 * us, 0}, {900 * us, 0});
  for (RankTrace& rank : job.ranks) {
    rank.lanes.push_back({trace::LaneKind::communication, 20, "stream 20"});
    for (Activity& activity : rank.activities)
      if (activity.activity_class == Class::collective)
        activity.lane = static_cast<std::uint32_t>(rank.lanes.size() - 1);
  }
  EXPECT_EQ(HostPace(job).own_ns(0, 5), 700 * us);
}

// Once in ten steps rank 0's host does something else for 3 ms; the others' hosts wait for their GPUs then.
TEST(HostPace, AHostThatStandsOutInOneStepIsLateInIt) {
  JobBuilder job;
  Nanoseconds begin = 0;
  for (int step = 0; step < 40; ++step) {
    const Nanoseconds logs = step % 10 == 4 ? 3000 * us : 0, all = begin + logs + 900 * us;
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      RankBuilder& builder = job.rank(rank);
      const Nanoseconds launches = begin + 200 * us + (rank == 0 ? logs : 0);
      builder.step(step, begin, all + 100 * us).sync(launches + 20 * us, all + 90 * us);
      builder.compute(launches + 10 * us, launches + 600 * us).launched(launches, launches + 5 * us);
      builder.all_reduce(launches + 600 * us, all).launched(launches + 6 * us, launches + 12 * us);
      if (rank == 0 && logs > 0) builder.host_range(begin, launches, "log_metrics");
    }
    begin = all + 100 * us;
  }
  Job built = job.build();
  for (RankTrace& rank : built.ranks) rank.device = "cuda:0";
  const Report report = report_of(built);
  const Finding periodic = finding(report, "straggler_periodic");
  EXPECT_THAT(periodic.title, HasSubstr("every 10 steps rank 0"));
  EXPECT_THAT(periodic.title, HasSubstr("`log_metrics`"));
  // Three others for four times 3 ms, and its own time.
  EXPECT_NEAR(static_cast<double>(periodic.lost_ns), 4.0 * 4 * 3000 * us, 0.05 * 4 * 4 * 3000 * us);
  for (const Finding& one : report.findings)
    for (const std::string& line : one.evidence)
      EXPECT_THAT(line, Not(HasSubstr("hosts need that time as well")));
}

TEST(HostPace, OfRanksThatShareAGpuOnlyTheHostTells) {
  Job job = two_ranks(1000 * us, 300 * us, {200 * us, 0}, {200 * us, 0});
  for (RankTrace& rank : job.ranks) rank.device_uuid = "GPU-0011";
  for (const std::int64_t late : lateness_of(job, 1)) EXPECT_EQ(late, 0);
  job.ranks[1].device_uuid = "GPU-2233";
  for (const std::int64_t late : lateness_of(job, 1)) EXPECT_GE(late, 300 * us);
  Job slow = two_ranks(1000 * us, 300 * us, {200 * us, 0}, {350 * us, 0});
  for (RankTrace& rank : slow.ranks) rank.device_uuid = "GPU-0011";
  for (const std::int64_t late : lateness_of(slow, 1)) EXPECT_EQ(late, 150 * us);
}

StepTable shared_table(Job job) {
  for (RankTrace& rank : job.ranks) rank.device_uuid = "GPU-0011";
  return table_of_steps(job, report_of(job));
}

// Hosts that work for all of the step, and a GPU that does not get to what rank 1's host launched 20 ms
// before.
TEST(HostPace, WaitingForWhatASharedGpuHasNotBegunIsNotTheHosts) {
  const StepTable table =
      shared_table(two_ranks(1000 * us, 600 * us, {990 * us, 20'000 * us}, {990 * us, 20'000 * us}));
  ASSERT_EQ(table.behind_gpu_ns.size(), table.steps.size());
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    EXPECT_EQ(table.behind_hosts_ns[step], 0);
    EXPECT_GE(table.behind_gpu_ns[step], 600 * us);
  }
}

// The same where rank 1's host launches 110 µs before its GPU begins: until then the others wait for the
// host.
TEST(HostPace, WaitingForALaunchIsTheHostsWhereAGpuIsSharedToo) {
  Job job = two_ranks(1000 * us, 600 * us, {990 * us, 20'000 * us}, {990 * us, 0});
  for (RankTrace& rank : job.ranks) rank.device_uuid = "GPU-0011";
  const Report report = report_of(job);
  const StepTable table = table_of_steps(job, report);
  ASSERT_EQ(table.behind_gpu_ns.size(), table.steps.size());
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    const Nanoseconds noise = (static_cast<Nanoseconds>(step) * 7 % 5) * us;
    EXPECT_EQ(table.behind_hosts_ns[step], 490 * us + noise);
    EXPECT_EQ(table.behind_gpu_ns[step], 110 * us);
  }
  const std::vector<std::string> evidence = finding(report, "host_bound").evidence;
  EXPECT_THAT(evidence.front(), HasSubstr("host-bound time of the ranks themselves: most on rank"));
  EXPECT_THAT(evidence.back(), HasSubstr("of what is lost is waiting in collectives for a host"));
}

// A host that works 150 µs longer does not explain why its GPU begins 300 µs later.
TEST(HostPace, BeyondASlowHostWaitingIsTheSharedGpus) {
  const StepTable table = shared_table(two_ranks(1000 * us, 300 * us, {200 * us, 0}, {350 * us, 0}));
  ASSERT_EQ(table.behind_gpu_ns.size(), table.steps.size());
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    EXPECT_EQ(table.behind_hosts_ns[step], 0);
    EXPECT_GE(table.behind_gpu_ns[step], 150 * us);
  }
}

}  // namespace
}  // namespace lockstep::analyzer
