// Ranks that have more to compute in turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Twelve steps on two ranks, one of which computes for 300 µs and the other for 200: in turn, or always rank
// 1 longer.
constexpr int kSteps = 12;
Report uneven_report(bool in_turn, bool counted, bool share_gpu = false) {
  JobBuilder job;
  for (std::int32_t rank = 0; share_gpu && rank < 2; ++rank) {
    job.rank(rank).trace().device = "cuda:0";
    job.rank(rank).trace().device_uuid = "GPU-1";
  }
  for (int step = 0; step < kSteps; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const bool longer = rank == (in_turn ? step % 2 : 1);
      const Nanoseconds end = begin + (longer ? 300 : 200) * us;
      job.rank(rank).step(step, begin, begin + 900 * us);
      job.rank(rank).compute(begin, end).launched(begin, begin + 1);
      job.rank(rank).all_reduce(end, begin + 310 * us).launched(begin + 1, begin + 2);
      if (!counted) continue;
      std::vector<CounterTrack>& counters = job.rank(rank).trace().counters;
      if (counters.empty()) counters.push_back({"tokens", {}});
      counters.front().points.push_back({begin + 500 * us, longer ? 3072.0 : 2048.0});
    }
  }
  return report_of(job);
}

TEST(UnevenBatches, OfRanksInTurnAreFound) {
  const Finding found = finding(uneven_report(true, true), "uneven_batches");
  EXPECT_EQ(found.lost_ns, kSteps * 100 * us);
  EXPECT_EQ(found.cause, Cause::barrier_wait);
  EXPECT_EQ(found.rank, std::nullopt);
  EXPECT_THAT(found.evidence.at(0),
              HasSubstr("follows the counter `tokens`: correlation 1.00 over 12 steps"));
  EXPECT_THAT(found.evidence.at(1), HasSubstr("takes 50.0 % longer than the one that computes shortest"));
}

TEST(UnevenBatches, AreNotWhatMakesOneRankLateInEveryStep) {
  EXPECT_THAT(codes_of(uneven_report(false, true).findings), Not(Contains("uneven_batches")));
}

// Where ranks share a GPU, none is called late by what turns explain. That makes no turns of it.
TEST(UnevenBatches, AreNotWhatOneOfTwoRanksOnAGpuComputesLongerInEveryStep) {
  const Report report = uneven_report(false, true, true);
  EXPECT_FALSE(report.lateness.ranks.at(1).is_late);
  EXPECT_EQ(report.lateness.ranks.at(1).not_accused_because, NotAccused::gpu_shared);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("uneven_batches")));
}

// Longer compute alone may be a disturbed host.
TEST(UnevenBatches, NeedEvidenceOfTheWork) {
  const Report report = uneven_report(true, false);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("uneven_batches")));
  const Finding jitter = finding(report, "jitter");
  EXPECT_THAT(jitter.remedy, HasSubstr("emit a counter `tokens`"));
  EXPECT_EQ(jitter.lost_ns, kSteps * 100 * us);
}

}  // namespace
}  // namespace lockstep::analyzer
