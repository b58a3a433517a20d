#include "reference_trainer/modes/zero/fetch_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "reference_trainer/modes/zero/bucket_plan.h"

namespace lockstep::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kPlenty = 1'000'000'000;
using Sizes = std::vector<std::vector<std::int64_t>>;

std::string text(const std::vector<std::size_t>& indices) {
  std::string text;
  for (const std::size_t index : indices) text += " " + std::to_string(index);
  return text;
}

// One pass, forward and backward, as words: "F1: get 2 3 ahead 4 drop 2" and so on; what is empty is left
// out.
std::vector<std::string> pass(FetchPlanner& planner, int parts) {
  std::vector<std::string> words;
  const auto visit = [&](const char* direction, int part) {
    std::string word = direction + std::to_string(part) + ":";
    if (const auto list = planner.fetch(part); !list.empty()) word += " get" + text(list);
    if (const auto list = planner.prefetch(); !list.empty()) word += " ahead" + text(list);
    if (const auto list = planner.release(part); !list.empty()) word += " drop" + text(list);
    words.push_back(word);
  };
  planner.begin_pass();
  for (int part = 0; part < parts; ++part) visit("F", part);
  for (int part = parts - 1; part >= 0; --part) visit("B", part);
  return words;
}

std::vector<std::string> third_pass(const Sizes& sizes, const FetchLimits& limits) {
  FetchPlanner planner(sizes, limits);
  for (int i = 0; i < 2; ++i) {
    pass(planner, static_cast<int>(sizes.size()));
    planner.drop_all();
    planner.fetch_persistent();
  }
  return pass(planner, static_cast<int>(sizes.size()));
}

const Sizes kThreeParts{{10}, {4, 6}, {10}};

TEST(FetchPlanner, RecordsBeforeItPrefetches) {
  FetchPlanner planner(kThreeParts, {.prefetch_bucket = kPlenty, .max_live = kPlenty});
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(pass(planner, 3),
                ElementsAre("F0: get 0 drop 0", "F1: get 1 2 drop 1 2", "F2: get 3 drop 3",
                            "B2: get 3 drop 3", "B1: get 1 2 drop 1 2", "B0: get 0 drop 0"));
  // All that comes, at once; what a prefetch has passed over because it was there stays for its next use.
  EXPECT_THAT(pass(planner, 3),
              ElementsAre("F0: get 0 ahead 1 2 3", "F1:", "F2:", "B2: drop 3", "B1: drop 1 2", "B0: drop 0"));
}

TEST(FetchPlanner, WithoutPrefetchAndReuse) {
  EXPECT_THAT(third_pass(kThreeParts, {.max_live = kPlenty}),
              ElementsAre("F0: get 0 drop 0", "F1: get 1 2 drop 1 2", "F2: get 3 drop 3", "B2: get 3 drop 3",
                          "B1: get 1 2 drop 1 2", "B0: get 0 drop 0"));
}

TEST(FetchPlanner, PrefetchStopsAtWholeParameters) {
  // 5 elements: parameter 1 (4) is not enough, 2 (6) goes over.
  EXPECT_THAT(third_pass(kThreeParts, {.prefetch_bucket = 5, .max_live = kPlenty})[0],
              "F0: get 0 ahead 1 2 drop 0");
  EXPECT_THAT(third_pass(kThreeParts, {.prefetch_bucket = 4, .max_live = kPlenty})[0],
              "F0: get 0 ahead 1 drop 0");
  // The rest of part 1 is fetched when it is needed, and the prefetch goes on after it.
  EXPECT_THAT(third_pass(kThreeParts, {.prefetch_bucket = 4, .max_live = kPlenty})[1],
              "F1: get 2 ahead 3 drop 1 2");
}

TEST(FetchPlanner, LiveParametersLimitThePrefetch) {
  // 10 there, room for 1: one parameter; no room: none.
  EXPECT_THAT(third_pass(kThreeParts, {.prefetch_bucket = kPlenty, .max_live = 11})[0],
              "F0: get 0 ahead 1 drop 0");
  EXPECT_THAT(third_pass(kThreeParts, {.prefetch_bucket = kPlenty, .max_live = 10})[0], "F0: get 0 drop 0");
  EXPECT_THAT(third_pass(kThreeParts, {.prefetch_bucket = kPlenty, .max_live = 0})[0], "F0: get 0 drop 0");
}

TEST(FetchPlanner, WhatIsUsedAgainSoonStays) {
  // Part 2 comes again at once, part 1 after 20 elements more, part 0 after 40.
  EXPECT_THAT(third_pass(kThreeParts, {.max_live = kPlenty, .max_reuse_distance = 1}),
              ElementsAre("F0: get 0 drop 0", "F1: get 1 2 drop 1 2", "F2: get 3", "B2: drop 3",
                          "B1: get 1 2 drop 1 2", "B0: get 0 drop 0"));
  EXPECT_THAT(third_pass(kThreeParts, {.max_live = kPlenty, .max_reuse_distance = 20})[1],
              "F1: get 1 2 drop 1 2");
  EXPECT_THAT(third_pass(kThreeParts, {.max_live = kPlenty, .max_reuse_distance = 21}),
              ElementsAre("F0: get 0 drop 0", "F1: get 1 2", "F2: get 3", "B2: drop 3", "B1: drop 1 2",
                          "B0: get 0 drop 0"));
  EXPECT_THAT(
      third_pass(kThreeParts, {.max_live = kPlenty, .max_reuse_distance = 41}),
      ElementsAre("F0: get 0", "F1: get 1 2", "F2: get 3", "B2: drop 3", "B1: drop 1 2", "B0: drop 0"));
}

TEST(FetchPlanner, PersistentParametersStayUntilTheUpdate) {
  FetchPlanner planner(kThreeParts, {.max_live = kPlenty, .persistence_threshold = 6});  // 4 < 6, not 6 < 6
  EXPECT_EQ(pass(planner, 3)[1], "F1: get 1 2 drop 2");
  EXPECT_EQ(planner.live(), 0);
  EXPECT_THAT(planner.drop_all(), ElementsAre(1));
  EXPECT_THAT(planner.fetch_persistent(), ElementsAre(1));
  EXPECT_THAT(planner.fetch_persistent(), IsEmpty());
  EXPECT_EQ(pass(planner, 3)[1], "F1: get 2 drop 2");
}

// Whatever sizes and limits: a part is whole while it computes, nothing is gathered twice or given up while
// it is not there, a prefetch stays within its limits, and a pass leaves persistent parameters alone.
TEST(FetchPlanner, HoldsItsPromises) {
  std::mt19937 random(7);
  const auto below = [&random](std::int64_t end) { return static_cast<std::int64_t>(random()) % end; };
  for (int round = 0; round < 500; ++round) {
    Sizes sizes(static_cast<std::size_t>(2 + below(6)));
    std::vector<std::int64_t> all;
    for (auto& part : sizes) {
      for (std::int64_t i = 1 + below(4); i > 0; --i) part.push_back(1 + below(30));
      all.insert(all.end(), part.begin(), part.end());
    }
    const FetchLimits limits{.prefetch_bucket = below(120),
                             .max_live = below(300),
                             .max_reuse_distance = below(200),
                             .persistence_threshold = below(15)};
    FetchPlanner planner(sizes, limits);
    const int parts = static_cast<int>(sizes.size());
    std::set<std::size_t> there;
    const auto is_persistent = [&](std::size_t index) { return all[index] < limits.persistence_threshold; };
    const auto live = [&] {
      std::int64_t sum = 0;
      for (const std::size_t index : there) sum += is_persistent(index) ? 0 : all[index];
      return sum;
    };
    const auto visit = [&](int part, bool recorded) {
      for (const std::size_t index : planner.fetch(part)) {
        ASSERT_EQ(planner.part_of(index), part);
        ASSERT_TRUE(there.insert(index).second);
      }
      const std::int64_t before = live();
      std::int64_t sum = 0;
      for (const std::size_t index : planner.prefetch()) {
        ASSERT_TRUE(recorded);
        ASSERT_LT(sum, std::min(limits.prefetch_bucket, limits.max_live - before));
        sum += all[index];
        ASSERT_TRUE(there.insert(index).second);
      }
      for (std::size_t i = planner.first_of(part); i < planner.end_of(part); ++i)
        ASSERT_TRUE(there.contains(i));
      for (const std::size_t index : planner.release(part)) {
        ASSERT_EQ(planner.part_of(index), part);
        ASSERT_FALSE(is_persistent(index));
        ASSERT_EQ(there.erase(index), 1u);
      }
      ASSERT_EQ(planner.live(), live());
    };
    for (int number = 1; number <= 6; ++number) {
      planner.begin_pass();
      for (int part = 0; part < parts; ++part) visit(part, number > 2);
      for (int part = parts - 1; part >= 0; --part) visit(part, number > 2);
      for (const std::size_t index : there) ASSERT_TRUE(is_persistent(index));
      if (number % 2 == 1) continue;  // two micro-steps a step
      const auto dropped = planner.drop_all();
      ASSERT_EQ(std::set<std::size_t>(dropped.begin(), dropped.end()), there);
      const auto persistent = planner.fetch_persistent();
      there = {persistent.begin(), persistent.end()};
    }
  }
}

TEST(BucketPlan, ClosesBeforeWhatWouldNotFit) {
  EXPECT_THAT(plan_buckets({4, 4, 4, 1}, 8), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(plan_buckets({9, 4, 20, 1}, 8),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3)));
  EXPECT_THAT(plan_buckets({1, 2, 3}, 100), ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_THAT(plan_buckets({}, 8), IsEmpty());
}

// Every gradient once, in order; no bucket over the limit unless it is one gradient; none could have had
// more.
TEST(BucketPlan, HoldsItsPromises) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::int64_t> sizes(random() % 20);
    for (auto& size : sizes) size = 1 + static_cast<std::int64_t>(random() % 50);
    const auto limit = 1 + static_cast<std::int64_t>(random() % 80);
    const auto buckets = plan_buckets(sizes, limit);
    std::size_t next = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      ASSERT_FALSE(buckets[b].empty());
      std::int64_t sum = 0;
      for (const std::size_t index : buckets[b]) {
        ASSERT_EQ(index, next++);
        sum += sizes[index];
      }
      ASSERT_TRUE(sum <= limit || buckets[b].size() == 1);
      ASSERT_TRUE(b + 1 == buckets.size() || sum + sizes[buckets[b + 1].front()] > limit);
    }
    ASSERT_EQ(next, sizes.size());
  }
}

}  // namespace
}  // namespace lockstep::trainer
