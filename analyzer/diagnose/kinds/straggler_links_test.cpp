// A rank that comes late because its transfers take longer: of its link, or of the cores of its host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "analyzer/diagnose/test_reports.h"
#include "analyzer/report/text.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// On a CPU each of the ranks' threads is ready and waits for a core for a fifth of each step of 3 ms.
void make_cores_short(JobBuilder& job, int ranks, int steps) {
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    RankTrace& trace = job.rank(rank).trace();
    trace.device = "cpu";
    trace.host = "a";
    trace.core_set = "0-1";
    trace.scheduling = {{0, 0, 0, 0, false}};
    for (int step = 0; step < steps; ++step) {
      SchedulingPoint next = trace.scheduling.back();
      next.time += 3000 * us;
      next.on_cpu_ns += 1500 * us;
      next.runnable_ns += 600 * us;
      next.waited_ns += 600 * us;
      next.known = true;
      trace.scheduling.push_back(next);
    }
  }
}

// Rank 2 is late because its part of the all-reduce before ends 300 µs after the others'.
Report late_by_its_link(bool two_hosts, Nanoseconds longer, bool short_cores = false, bool on_cpu = false,
                        Nanoseconds computes = 0) {
  JobBuilder job;
  if (short_cores) make_cores_short(job, 4, 12);
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    if (two_hosts) job.rank(rank).trace().host = rank < 2 ? "a" : "b";
    if (on_cpu) job.rank(rank).trace().device = "cpu";
    for (int step = 0; step < 12; ++step) {
      const Nanoseconds begin = step * 3000 * us, held_up = rank == 2 ? longer : 0;
      job.rank(rank).step(step, begin, begin + 2900 * us);
      job.rank(rank).compute(begin, begin + 500 * us).launched(begin, begin + 1);
      job.rank(rank).all_reduce(begin + 500 * us, begin + 900 * us + held_up).launched(begin, begin + 2);
      const Nanoseconds ready = begin + 900 * us + held_up + 1000 * us + (rank == 2 ? computes : 0);
      job.rank(rank).compute(begin + 900 * us + held_up, ready).launched(begin, begin + 3);
      job.rank(rank).all_reduce(ready, begin + 2700 * us).launched(begin, begin + 4);
    }
  }
  return report_of(job);
}

TEST(Findings, ALateRankWhoseTransfersTakeLongerHasASlowLink) {
  const Report report = late_by_its_link(true, 300 * us);
  const Finding link = finding(report, "slow_link_of_rank");
  EXPECT_EQ(link.rank, 2);
  EXPECT_EQ(link.accuses, Accused::link);
  EXPECT_THAT(link.title, HasSubstr("its link is slow, not its work"));
  EXPECT_THAT(link.remedy, HasSubstr("ethtool"));
  EXPECT_THAT(codes_of(report.findings), Not(Contains("straggler_persistent")));
}

// Processes of one host share its path: of those it takes more, and nobody is sent to `ethtool`.
TEST(Findings, WithinAHostALinkNeedsMoreEvidence) {
  const Report little = late_by_its_link(false, 100 * us);
  EXPECT_THAT(codes_of(little.findings), Not(Contains("slow_link_of_rank")));
  const Finding transfers = finding(little, "straggler_persistent");
  EXPECT_EQ(transfers.reason, "unknown");
  EXPECT_THAT(transfers.title, HasSubstr("why is not known"));
  EXPECT_THAT(transfers.remedy, HasSubstr("record NCCL_DEBUG=INFO"));
  const Finding link = finding(late_by_its_link(false, 800 * us), "slow_link_of_rank");
  EXPECT_THAT(link.remedy, testing::AllOf(HasSubstr("on one host"), Not(HasSubstr("ethtool"))));
}

// Ranks 2 and 3 share host b, and what ends late on rank 2 is an operation of these two: no network is in it,
// whatever else the job does between its hosts.
TEST(Findings, ALinkWithinAHostIsNoNetworkInAJobOfSeveralHosts) {
  const auto late_within = [](Nanoseconds longer) {
    JobBuilder job;
    const auto all = job.group("dp", {0, 1, 2, 3});
    const std::array<std::uint32_t, 2> pairs{job.group("tp", {0, 1}), job.group("tp", {2, 3})};
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      auto& one = job.rank(rank);
      one.trace().host = rank < 2 ? "a" : "b";
      for (int step = 0; step < 12; ++step) {
        const Nanoseconds begin = step * 3000 * us, held_up = rank == 2 ? longer : 0;
        one.step(step, begin, begin + 2900 * us);
        one.compute(begin, begin + 500 * us).launched(begin, begin + 1);
        one.all_reduce(begin + 500 * us, begin + 900 * us + held_up).launched(begin, begin + 2);
        one.in_group(pairs[static_cast<std::size_t>(rank / 2)]);
        const Nanoseconds ready = begin + 900 * us + held_up + 1000 * us;
        one.compute(begin + 900 * us + held_up, ready).launched(begin, begin + 3);
        one.all_reduce(ready, begin + 2700 * us).launched(begin, begin + 4).in_group(all);
      }
    }
    return report_of(job);
  };
  const Report little = late_within(90 * us);
  EXPECT_THAT(codes_of(little.findings), Not(Contains("slow_link_of_rank")));
  const Finding link = finding(late_within(800 * us), "slow_link_of_rank");
  EXPECT_THAT(link.remedy, testing::AllOf(HasSubstr("on one host"), Not(HasSubstr("ethtool"))));
}

// Seen of DeepSpeed on loaded cores: Gloo moves data on threads that want a core as well.
TEST(Findings, WhereCoresAreShortALongerTransferOnThemIsNoLink) {
  const Report report = late_by_its_link(false, 800 * us, true);
  EXPECT_THAT(codes_of(report.findings), Contains("cores_shared"));
  for (const Finding& one : report.findings) EXPECT_NE(one.accuses, Accused::link) << one.code;
  for (const Finding& one : report.findings) EXPECT_NE(one.accuses, Accused::rank) << one.code;
  EXPECT_EQ(report.lateness.ranks.at(2).not_accused_because, NotAccused::cores_shared);
}

// Nor does it take a shortage that was seen: nobody looks at those threads. Seen of the plainest DDP on two
// cores with other programs: 18 ms beside 1.6 ms, on one rank in this run and on the other in the next.
TEST(Findings, OnTheCoresOfAHostALongerTransferAccusesNobody) {
  const Report report = late_by_its_link(false, 800 * us, false, true);
  for (const Finding& one : report.findings) {
    EXPECT_NE(one.accuses, Accused::link) << one.code;
    EXPECT_NE(one.accuses, Accused::rank) << one.code;
  }
  EXPECT_TRUE(report.lateness.ranks.at(2).is_late);
  EXPECT_EQ(report.lateness.ranks.at(2).not_accused_because, NotAccused::cores_unknown);
  const std::string text = to_text(report, {});
  EXPECT_THAT(text, HasSubstr("Which rank is slow can't be told"));
  EXPECT_THAT(text, HasSubstr("operations end later on it than on the others"));
  EXPECT_THAT(text, Not(HasSubstr("Cores are short")));
  const Finding between_hosts = finding(late_by_its_link(true, 800 * us, false, true), "slow_link_of_rank");
  EXPECT_EQ(between_hosts.rank, 2);
}

// What a rank computes longer is its own all the same, and is all that the title says.
TEST(Findings, OnTheCoresOfAHostALongerTransferIsNoSecondCause) {
  for (const bool on_cpu : {false, true}) {
    const Finding late =
        finding(late_by_its_link(false, 300 * us, false, on_cpu, 400 * us), "straggler_persistent");
    EXPECT_EQ(late.rank, 2);
    EXPECT_EQ(late.reason, "computes_longer");
    EXPECT_EQ(late.title.find("moves data") == std::string::npos, on_cpu) << late.title;
  }
}

}  // namespace
}  // namespace lockstep::analyzer
