// Messages on a detour.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Ten times a message of 10 MB that takes `message_us`, and an all-reduce of 10 MB that takes 100 µs: a busbw
// of 100 GB/s.
Job messages_job(Nanoseconds message_us, const char* second_host) {
  JobBuilder job;
  const std::uint32_t group = job.group("all", {0, 1});
  constexpr std::int64_t kBytes = 10'000'000;
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds begin = i * 5000 * us, sent = begin + message_us * us;
    job.rank(0).send(1, begin, sent).in_group(group).bytes(kBytes);
    job.rank(1).recv(0, begin, sent).in_group(group).bytes(kBytes);
    for (int rank = 0; rank < 2; ++rank) {
      job.rank(rank).compute(sent, sent + 1000 * us);
      job.rank(rank).all_reduce(sent + 1000 * us, sent + 1100 * us).in_group(group).bytes(kBytes);
      job.rank(rank).trace().device = "cuda:0";
    }
  }
  job.rank(0).trace().host = "node0";
  job.rank(1).trace().host = second_host;
  return job.build();
}

TEST(Placement, MessagesSlowerThanCollectivesOfTheHostTakeADetour) {
  const Report report = report_of(messages_job(1000, "node0"));  // 10 GB/s
  const Finding found = finding(report, "p2p_slow_path");
  EXPECT_EQ(found.lost_ns, 10 * 2 * 900 * us) << "all but what they take at the collectives' rate";
  EXPECT_THAT(found.evidence.at(0),
              HasSubstr("move at 10.0 GB/s in the median of 10, collectives on the same hosts "
                        "at 100 GB/s of 10"));
}

TEST(Placement, MessagesAsFastAsCollectivesDoNot) {
  EXPECT_THAT(codes_of(report_of(messages_job(150, "node0")).findings), Not(Contains("p2p_slow_path")));
}

TEST(Placement, BetweenHostsThereIsNoShortWay) {
  EXPECT_THAT(codes_of(report_of(messages_job(1000, "node1")).findings), Not(Contains("p2p_slow_path")));
}

}  // namespace
}  // namespace lockstep::analyzer
