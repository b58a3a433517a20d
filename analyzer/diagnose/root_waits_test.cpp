#include "analyzer/diagnose/root_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/diagnose/test_reports.h"
#include "analyzer/report/text.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// When each rank comes to a broadcast of rank 0's and when rank 0 leaves it, in µs.
struct Broadcast {
  std::vector<Nanoseconds> arrivals;
  Nanoseconds root_end = 0;
  Nanoseconds computes_until = 0;  // rank 0, beside it
};

JobBuilder job_of(const Broadcast& broadcast) {
  JobBuilder job;
  const Nanoseconds last = *std::max_element(broadcast.arrivals.begin(), broadcast.arrivals.end());
  for (std::int32_t rank = 0; std::cmp_less(rank, broadcast.arrivals.size()); ++rank) {
    const Nanoseconds arrival = broadcast.arrivals[static_cast<std::size_t>(rank)];
    if (rank == 0 && broadcast.computes_until > 0) job.rank(0).compute(0, broadcast.computes_until * us);
    job.rank(rank)
        .collective(Operation::broadcast, arrival * us, (rank == 0 ? broadcast.root_end : last + 10) * us)
        .root(0);
  }
  return job;
}

TEST(RootWaits, IsTheTimeBeforeTheLastReceiverComes) {
  const Job job = job_of({.arrivals = {10, 50, 90}, .root_end = 100}).build();
  const Report report = report_of(job);
  EXPECT_EQ(report.ranks[0].measures.partition[Cause::transfer], 90 * us) << "by definition";
  const RootWaits roots(job, report);
  EXPECT_EQ(roots.all_ns(), 80 * us);
  EXPECT_EQ(roots.of(Operation::broadcast), 80 * us);
  EXPECT_EQ(roots.of(Operation::scatter), 0);
  EXPECT_EQ(roots.of(0, report.ranks[0].begin_ns, report.ranks[0].begin_ns + 30 * us), 30 * us);
  EXPECT_EQ(roots.of(1, report.ranks[1].begin_ns, report.ranks[1].end_ns), 0);
  EXPECT_EQ(roots.for_receiver(2), 80 * us);
  EXPECT_EQ(roots.for_receiver(1), 0) << "another one came later";
  ASSERT_EQ(report.collectives.size(), 1U);
  for (const CollectiveRank& rank : report.collectives[0].ranks)
    EXPECT_EQ(roots.in(rank), rank.rank == 0 ? 80 * us : 0);
}

TEST(RootWaits, AreSaidOfWhatCountsAsTransfer) {
  TextOptions options;
  options.page.width = 200;
  const Report report = report_of(job_of({.arrivals = {10, 50, 90}, .root_end = 100}).build());
  EXPECT_EQ(report.ranks[0].root_wait_ns, 80 * us);
  EXPECT_EQ(report.ranks[1].root_wait_ns, 0);
  EXPECT_THAT(
      to_text(report, options),
      HasSubstr("150 µs counts as transfer, 80.0 µs of it of roots of broadcasts or scatters that wait"));
  const Report late = report_of(job_of({.arrivals = {90, 50, 10}, .root_end = 100}).build());
  EXPECT_THAT(to_text(late, options), HasSubstr(" moves data. "));
}

TEST(RootWaits, IsNoneWhereTheRootDidNotNeedThem) {
  const Job eager = job_of({.arrivals = {10, 50, 90}, .root_end = 60}).build();
  EXPECT_EQ(RootWaits(eager, report_of(eager)).all_ns(), 0) << "it left before the last one came";
  const Job late = job_of({.arrivals = {90, 50, 10}, .root_end = 100}).build();
  EXPECT_EQ(RootWaits(late, report_of(late)).all_ns(), 0) << "it came last itself";
  JobBuilder all;
  for (int rank = 0; rank < 2; ++rank) all.rank(rank).all_reduce((10 + 40 * rank) * us, 60 * us);
  const Job job = all.build();
  EXPECT_EQ(RootWaits(job, report_of(job)).all_ns(), 0) << "an all-reduce counts as waiting already";
}

TEST(RootWaits, IsNotWhatItComputesBeside) {
  const Job job = job_of({.arrivals = {10, 50, 90}, .root_end = 100, .computes_until = 40}).build();
  EXPECT_EQ(RootWaits(job, report_of(job)).all_ns(), 50 * us);
}

// Seen of DistributedDataParallel, which broadcasts the buffers of a model before each forward pass: the root
// stood in that for as long as the slow rank was late, "data moves while nothing is computed" was said of it,
// and nobody was named.
TEST(RootWaits, WhoIsLateToABroadcastIsLate) {
  JobBuilder job;
  Nanoseconds begin = 0;
  for (int step = 0; step < 40; ++step) {
    Nanoseconds computed[3];
    for (int rank = 0; rank < 3; ++rank)
      computed[rank] = begin + 2000 + (step * (rank + 3) * 7 % 5) * 20 + (rank == 2 ? 800 : 0);
    const Nanoseconds end = computed[2] + 100;
    for (int rank = 0; rank < 3; ++rank) {
      RankTrace& trace = job.rank(rank).trace();
      trace.device = "cpu";
      job.rank(rank).compute(begin * us, computed[rank] * us).launched(begin * us, begin * us);
      // A receiver that is on time leaves when it has its part.
      const Nanoseconds left = rank == 1 ? computed[1] + 50 : end;
      job.rank(rank)
          .collective(Operation::broadcast, computed[rank] * us, left * us)
          .root(0)
          .launched(computed[rank] * us, computed[rank] * us);
      job.rank(rank).all_reduce(left * us, (end + 50) * us).launched(left * us, left * us);
      job.rank(rank).step(step, begin * us, (end + 50) * us);
    }
    begin = end + 50;
  }
  const Report report = report_of(job.build());
  EXPECT_TRUE(report.lateness.ranks[2].is_late);
  EXPECT_THAT(codes_of(report.findings), Not(Contains("exposed_transfer")));
}

}  // namespace
}  // namespace lockstep::analyzer
