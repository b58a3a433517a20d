#include "viewer/timeline/wait_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/model/job_builder.h"
#include "viewer/testing/view_fixture.h"
#include "viewer/timeline/navigate.h"

namespace lockstep::viewer {
namespace {

using analyzer::JobBuilder;
using testing::HasSubstr;

// Rank 2 computes long; rank 1 waits for it in the first group, and is therefore late in the second, in which
// rank 0 waits.
JobBuilder two_groups() {
  JobBuilder job;
  const std::uint32_t first = job.group("first", {1, 2});
  const std::uint32_t second = job.group("second", {0, 1});
  job.rank(0).compute(0, 20).all_reduce(20, 1'150).in_group(second).sequence(0);
  job.rank(1)
      .compute(0, 10)
      .all_reduce(10, 1'050)
      .in_group(first)
      .sequence(0)
      .compute(1'050, 1'100)
      .all_reduce(1'100, 1'150)
      .in_group(second)
      .sequence(0);
  job.rank(2).compute(0, 1'000, "long kernel").all_reduce(1'000, 1'050).in_group(first).sequence(0);
  return job;
}

Item item_at(const View& view, std::uint32_t rank, Nanoseconds begin) {
  const RankData& data = view.scene->data(rank);
  for (std::uint32_t i = 0; i < data.activities.size(); ++i)
    if (data.activities[i].begin == begin) return view.scene->find_activity(rank, i).value();
  ADD_FAILURE() << "nothing begins at " << begin;
  return {};
}

TEST(WaitChain, LeadsFromGroupToGroupToWhatBeganIt) {
  const View view(two_groups().build());
  const WaitChain chain = chain_of(*view.scene, item_at(view, 0, 20));
  EXPECT_EQ(chain.items, (std::vector<Item>{item_at(view, 0, 20), item_at(view, 1, 1'100),
                                            item_at(view, 1, 10), item_at(view, 2, 1'000)}));
  ASSERT_TRUE(chain.root.has_value());
  EXPECT_EQ(*chain.root, item_at(view, 2, 0));
  EXPECT_THAT(chain.why, HasSubstr("rank 2: long kernel"));
  EXPECT_FALSE(chain.cut);
}

// Rank 1 waited before, but for a moment: what made it late it did itself.
TEST(WaitChain, EndsWhereTheLateOneWorkedItself) {
  JobBuilder job;
  const std::uint32_t group = job.group("g", {0, 1});
  job.rank(0)
      .compute(0, 100)
      .all_reduce(100, 120)
      .in_group(group)
      .sequence(0)
      .all_reduce(130, 1'020)
      .in_group(group)
      .sequence(1);
  job.rank(1)
      .compute(0, 90)
      .all_reduce(90, 120)
      .in_group(group)
      .sequence(0)
      .compute(120, 1'000)
      .all_reduce(1'000, 1'020)
      .in_group(group)
      .sequence(1);
  const View view(job.build());
  const WaitChain chain = chain_of(*view.scene, item_at(view, 0, 130));
  EXPECT_EQ(chain.items.size(), 2u);
  EXPECT_EQ(chain.root, item_at(view, 1, 120));
}

TEST(WaitChain, OfSomethingThatNothingHeldUpIsItAlone) {
  const View view(two_groups().build());
  const WaitChain chain = chain_of(*view.scene, item_at(view, 2, 0));
  EXPECT_EQ(chain.items.size(), 1u);
  EXPECT_FALSE(chain.root.has_value());
  EXPECT_EQ(chain.why, "");
}

// From a computation the chain begins with the wait before it.
TEST(WaitChain, BeginsAnywhere) {
  const View view(two_groups().build());
  const WaitChain chain = chain_of(*view.scene, item_at(view, 1, 1'050));
  ASSERT_EQ(chain.items.size(), 3u);
  EXPECT_EQ(chain.items[1], item_at(view, 1, 10));
  EXPECT_EQ(chain.root, item_at(view, 2, 0));
}

// Ranks pass a lateness on to and fro, in ever new operations: the chain is followed so far and no further.
TEST(WaitChain, IsBounded) {
  JobBuilder job;
  std::vector<std::uint32_t> groups;
  constexpr std::int32_t kRanks = 200;
  for (std::int32_t rank = 0; rank + 1 < kRanks; ++rank)
    groups.push_back(job.group("g" + std::to_string(rank), {rank, rank + 1}));
  // Rank r waits for r - 1, then makes r + 1 wait.
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    const Nanoseconds in = 100'000 + 10 * rank, out = in + 10;
    analyzer::RankBuilder& builder = job.rank(rank);
    builder.compute(0, rank == 0 ? in + 4 : 5);
    if (rank > 0) builder.all_reduce(10, in).in_group(groups[static_cast<std::size_t>(rank - 1)]).sequence(0);
    if (rank + 1 < kRanks)
      builder.all_reduce(out - 5, out).in_group(groups[static_cast<std::size_t>(rank)]).sequence(0);
  }
  const View view(job.build());
  const WaitChain chain = chain_of(*view.scene, item_at(view, kRanks - 1, 10));
  EXPECT_EQ(chain.items.size(), kLongestChain);
  EXPECT_TRUE(chain.cut);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const Item& item : chain.items) seen.emplace(item.rank, item.at + 1'000 * item.lane);
  EXPECT_EQ(seen.size(), chain.items.size()) << "nothing twice";
}

// Two operations at once, of which each rank is last in one: who follows them goes round.
TEST(WaitChain, DoesNotGoRound) {
  JobBuilder job;
  const std::uint32_t a = job.group("a", {0, 1}), b = job.group("b", {0, 1});
  job.rank(0).all_reduce(10, 1'000).in_group(a).sequence(0).all_reduce(500, 1'000).in_group(b).sequence(0);
  job.rank(1).all_reduce(20, 1'000).in_group(b).sequence(0).all_reduce(490, 1'000).in_group(a).sequence(0);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const View view(job.build());
    for (std::uint32_t activity = 0; activity < 2; ++activity) {
      const WaitChain chain = chain_of(*view.scene, view.scene->find_activity(rank, activity).value());
      EXPECT_LE(chain.items.size(), 4u);
    }
  }
}

// A chain is what the keys walk: every next item is who held up the one before.
TEST(WaitChain, FollowsTheKeys) {
  const View view;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    for (std::uint32_t activity = 0; activity < 6; ++activity) {
      const WaitChain chain = chain_of(*view.scene, view.scene->find_activity(rank, activity).value());
      for (std::size_t i = 0; i + 1 < chain.items.size(); ++i)
        EXPECT_EQ(held_up_by(*view.scene, chain.items[i]), chain.items[i + 1]);
    }
  }
}

}  // namespace
}  // namespace lockstep::viewer
