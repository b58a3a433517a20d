// A rank that comes late, and others that wait for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Findings, APersistentStraggler) {
  const Report report = report_of(straggling_job(12, 2, 100));
  const Finding straggler = finding(report, "straggler_persistent");
  EXPECT_THAT(straggler.title,
              HasSubstr("rank 2 computes 33.6 % longer, above all in `layer`: the others wait for it, "));
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

// Rank 2 is late because its part of the all-reduce before ends 300 µs after the others'.
Report late_by_its_link(bool two_hosts, Nanoseconds longer) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    if (two_hosts) job.rank(rank).trace().host = rank < 2 ? "a" : "b";
    for (int step = 0; step < 12; ++step) {
      const Nanoseconds begin = step * 3000 * us, held_up = rank == 2 ? longer : 0;
      job.rank(rank).step(step, begin, begin + 2900 * us);
      job.rank(rank).compute(begin, begin + 500 * us).launched(begin, begin + 1);
      job.rank(rank).all_reduce(begin + 500 * us, begin + 900 * us + held_up).launched(begin, begin + 2);
      const Nanoseconds ready = begin + 900 * us + held_up + 1000 * us;
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
  EXPECT_EQ(finding(little, "straggler_persistent").reason, "unknown");
  const Finding link = finding(late_by_its_link(false, 800 * us), "slow_link_of_rank");
  EXPECT_THAT(link.remedy, testing::AllOf(HasSubstr("on one host"), Not(HasSubstr("ethtool"))));
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
