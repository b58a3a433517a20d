// Ranks that compute on one GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Each computes for 100 µs of every 300, in turn; all was launched before. `uuid` of rank 2.
Job in_turn(const std::string& uuid) {
  JobBuilder job;
  for (int rank = 0; rank < 3; ++rank) {
    job.rank(rank).trace().host = "node0";
    job.rank(rank).trace().device_uuid = rank == 2 ? uuid : "GPU-a";
    for (int round = 0; round < 10; ++round) {
      const Nanoseconds begin = (300 * round + 100 * rank) * us;
      job.rank(rank).compute(begin, begin + 100 * us).launched(-10 * us, -9 * us);
    }
  }
  return job.build();
}

TEST(Findings, RanksThatShareAGpu) {
  const Finding shared = finding(report_of(in_turn("GPU-a")), "gpu_shared");
  EXPECT_EQ(shared.title, "ranks 0, 1 and 2 of node0 share one GPU");
  EXPECT_EQ(shared.accuses, Accused::host);
  EXPECT_EQ(shared.rank, std::nullopt);
  EXPECT_THAT(shared.evidence[0], HasSubstr("GPU-a"));
  // From its first kernel to its last each idles for nine times 200 µs, while the others compute.
  EXPECT_EQ(shared.lost_ns, 3 * 9 * 200 * us);
}

TEST(Findings, OnlyWhatAnotherRankOfTheGpuDoesIsLostToIt) {
  const Report report = report_of(in_turn("GPU-b"));
  const Finding shared = finding(report, "gpu_shared");
  EXPECT_EQ(shared.title, "ranks 0 and 1 of node0 share one GPU");
  EXPECT_EQ(shared.lost_ns, 2 * 9 * 100 * us);
}

TEST(Findings, GpusOfOtherHostsAreOthers) {
  Job job = in_turn("GPU-b");
  job.ranks[1].host = "node1";
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("gpu_shared")));
  for (RankTrace& rank : job.ranks) rank.device_uuid.clear();
  EXPECT_THAT(codes_of(report_of(job).findings), Not(Contains("gpu_shared")));
}

}  // namespace
}  // namespace lockstep::analyzer
