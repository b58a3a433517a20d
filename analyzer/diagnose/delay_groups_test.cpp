// Ranks stand beside each other over the same times only.
#include "analyzer/diagnose/delay_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

enum class Slow { gpu, host };

// Two pairs, each of which reduces what it computed, and then with the other pair. The second pair needs
// 60 ms, the first one 40; of its ranks, rank 2 needs 5 ms more in one step. So rank 2 is waited for in 30
// operations between the pairs, and in one of its own.
Job two_pairs(Slow slow) {
  JobBuilder job;
  const std::array pairs{job.group("tp 0", {0, 1}), job.group("tp 1", {2, 3})};
  const std::array replicas{job.group("dp 0", {0, 2}), job.group("dp 1", {1, 3})};
  for (int step = 0; step < 30; ++step) {
    const Nanoseconds begin = step * 100 * ms;
    const Nanoseconds once = step == 3 ? 5 * ms : 0;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const bool is_slow = rank >= 2;
      const Nanoseconds end = begin + (is_slow ? 60 * ms : 40 * ms) + (rank == 2 ? once : 0);
      const Nanoseconds left = begin + (is_slow ? 61 * ms + once : 41 * ms);
      const Nanoseconds launch = slow == Slow::host ? end - 10 * ms : begin;
      RankBuilder& builder = job.rank(static_cast<std::int32_t>(rank));
      builder.trace().device = "cuda:0";
      builder.step(step, begin, begin + 99 * ms);
      builder.compute(launch, end, "row").launched(launch, launch + us);
      builder.all_reduce(end, left).launched(launch, launch + us).in_group(pairs[rank / 2]);
      builder.all_reduce(left, begin + 90 * ms).launched(launch, launch + us).in_group(replicas[rank % 2]);
      if (launch > begin) builder.host_range(begin, launch, "tokenize");
    }
  }
  return job.build();
}

std::string root_cause_of(const Report& report, std::int32_t rank) {
  for (const BlameReport& blame : report.blame)
    if (blame.rank == rank) return blame.root_cause;
  return "rank is not waited for";
}

// What the partner did is known of the one operation within the pair: sums over 31 operations are not to be
// held against it.
TEST(DelayGroups, OfSeveralGroupsAreComparedEachByItself) {
  EXPECT_THAT(root_cause_of(report_of(two_pairs(Slow::gpu)), 2), HasSubstr("`row`: 60.3 ms beside 40.6 ms"));
  EXPECT_THAT(root_cause_of(report_of(two_pairs(Slow::host)), 2),
              HasSubstr("`tokenize` for 50.3 ms on average, the others for 30.6 ms"));
}

}  // namespace
}  // namespace lockstep::analyzer
