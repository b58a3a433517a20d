#include "viewer/timeline/lateness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/model/job_builder.h"
#include "viewer/testing/view_fixture.h"
#include "viewer/timeline/wait_chain.h"

namespace lockstep::viewer {
namespace {

using analyzer::Cause;
using analyzer::JobBuilder;

// Four ranks leave an operation at 100 and compute for 600; rank 1 pauses for 300 in the midst of it.
JobBuilder paused(bool overlapped = false) {
  JobBuilder job;
  const std::uint32_t group = job.group("dp", {0, 1, 2, 3});
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const Nanoseconds pause = rank == 1 ? 300 : 0;
    analyzer::RankBuilder& builder = job.rank(rank);
    builder.compute(0, 50).all_reduce(50, 100).in_group(group).sequence(0);
    builder.compute(100, 300, "first").compute(300 + pause, 700 + pause, "second");
    // Under compute: nobody waits for it, and the ranks do not leave it together.
    if (overlapped) builder.all_reduce(400 + pause, 600 + pause).in_group(group).sequence(1);
    builder.all_reduce(700 + pause, 1'050).in_group(group).sequence(overlapped ? 2 : 1);
  }
  return job;
}

std::uint32_t last_collective(const View& view) {
  return static_cast<std::uint32_t>(view.scene->collectives().size() - 1);
}

Item part(const View& view, std::uint32_t rank, std::uint32_t collective) {
  for (const analyzer::CollectiveRank& part : view.scene->parts(collective))
    if (part.rank == view.scene->timeline().ranks[rank].rank)
      return view.scene->find_activity(rank, part.activity).value();
  ADD_FAILURE() << "no part of rank " << rank;
  return {};
}

// Most of the time in which the others waited it computed, as they had done before: what is its own is the
// pause.
TEST(Lateness, IsWhatTheOthersDidNotDo) {
  for (const bool overlapped : {false, true}) {
    const View view(paused(overlapped).build());
    const std::uint32_t collective = last_collective(view);
    const auto lateness = lateness_of(*view.scene, part(view, 1, collective), collective);
    ASSERT_TRUE(lateness.has_value());
    EXPECT_NE(lateness->cause, Cause::compute);
    EXPECT_EQ(lateness->since.begin, 100);
    EXPECT_EQ(lateness->since.end, 1'000);
    const WaitChain chain = chain_of(*view.scene, part(view, 0, collective));
    ASSERT_TRUE(chain.root.has_value());
    const TrackLane& lane = view.scene->timeline().ranks[chain.root->rank].lanes[chain.root->lane];
    EXPECT_EQ(lane.role, LaneRole::causes);
    EXPECT_EQ(lane.rows[0].begin[chain.root->at], 300);
    EXPECT_EQ(lane.rows[0].end[chain.root->at], 600);
    EXPECT_EQ(chain.root->rank, 1u);
  }
}

TEST(Lateness, OfMoreComputeIsCompute) {
  JobBuilder job;
  const std::uint32_t group = job.group("dp", {0, 1, 2});
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const Nanoseconds more = rank == 2 ? 400 : 0;
    job.rank(rank)
        .all_reduce(0, 100)
        .in_group(group)
        .sequence(0)
        .compute(150, 300 + more, "slow")
        .all_reduce(350 + more, 800)
        .in_group(group)
        .sequence(1);
  }
  const View view(job.build());
  const std::uint32_t collective = last_collective(view);
  const auto lateness = lateness_of(*view.scene, part(view, 2, collective), collective);
  ASSERT_TRUE(lateness.has_value());
  EXPECT_EQ(lateness->cause, Cause::compute);
}

TEST(Lateness, IsNotKnownWithoutAnOperationBefore) {
  const View view(paused().build());
  EXPECT_FALSE(lateness_of(*view.scene, part(view, 1, 0), 0).has_value());
}

}  // namespace
}  // namespace lockstep::viewer
