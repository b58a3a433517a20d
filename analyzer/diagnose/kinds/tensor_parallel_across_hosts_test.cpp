// Groups of tensor parallelism within a host and across hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Ten times: both ranks compute for 500 µs, and then all-reduce in `group` for 200 µs.
Job tensor_parallel_job(const char* group_name, const char* second_host) {
  JobBuilder job;
  const std::uint32_t group = job.group(group_name, {0, 1});
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds begin = i * 1000 * us;
    for (int rank = 0; rank < 2; ++rank) {
      job.rank(rank).compute(begin, begin + 500 * us).launched(begin, begin + 1);
      job.rank(rank)
          .all_reduce(begin + 500 * us, begin + 700 * us)
          .launched(begin, begin + 1)
          .in_group(group);
    }
  }
  job.rank(0).trace().host = "node0";
  job.rank(1).trace().host = second_host;
  return job.build();
}

TEST(Placement, TensorParallelismAcrossHostsIsFound) {
  const Report report = report_of(tensor_parallel_job("tensor parallel", "node1"));
  const Finding found = finding(report, "tensor_parallel_across_hosts");
  EXPECT_EQ(found.lost_ns, 10 * 2 * 200 * us);
  EXPECT_THAT(found.evidence.at(0),
              HasSubstr("\"tensor parallel\" of 2 ranks loses most and is on 2 of them"));
  EXPECT_THAT(found.evidence.at(1), HasSubstr("10 operations in them"));
}

TEST(Placement, WithinAHostItBelongs) {
  EXPECT_THAT(codes_of(report_of(tensor_parallel_job("tensor parallel", "node0")).findings),
              Not(Contains("tensor_parallel_across_hosts")));
}

TEST(Placement, AnotherGroupMayCrossHosts) {
  EXPECT_THAT(codes_of(report_of(tensor_parallel_job("data parallel", "node1")).findings),
              Not(Contains("tensor_parallel_across_hosts")));
}

}  // namespace
}  // namespace lockstep::analyzer
