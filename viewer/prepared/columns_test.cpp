#include "viewer/prepared/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace lockstep::viewer {
namespace {

using testing::ElementsAre;

TEST(MakeRows, PutsWhatDoesNotOverlapIntoOneRow) {
  const auto rows = make_rows({{10, 20, 0, 0}, {0, 10, 1, 0}, {20, 20, 2, 0}, {20, 25, 3, 0}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0].item, ElementsAre(1, 0, 2, 3));
  EXPECT_THAT(rows[0].busy, ElementsAre(10, 20, 20, 25));
}

TEST(MakeRows, PutsWhatOverlapsBelow) {
  const auto rows = make_rows({{0, 100, 0, 0}, {10, 20, 1, 0}, {15, 30, 2, 0}, {30, 40, 3, 0}});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0].item, ElementsAre(0));
  EXPECT_THAT(rows[1].item, ElementsAre(1, 3));
  EXPECT_THAT(rows[2].item, ElementsAre(2));
}

TEST(MakeRows, KeepsDepths) {
  const auto rows = make_rows({{0, 100, 0, 0}, {10, 20, 1, 2}, {0, 50, 2, 1}});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0].item, ElementsAre(0));
  EXPECT_THAT(rows[1].item, ElementsAre(2));
  EXPECT_THAT(rows[2].item, ElementsAre(1));
}

TEST(MakeRows, CutsAnOverlapThatTheTimestampsCannotTell) {
  // Whole microseconds: the second kernel seems to begin before the first one ends.
  const auto rows = make_rows({{0, 5'000, 0, 0}, {4'500, 9'000, 1, 0}}, 1'000);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0].begin, ElementsAre(0, 5'000));
  EXPECT_THAT(rows[0].end, ElementsAre(5'000, 9'000));
}

TEST(MakeRows, HoldsEverythingInAsManyRowsAsAllowed) {
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < 100; ++i) events.push_back({0, 10, i, 0});
  const auto rows = make_rows(std::move(events), 0, 4);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[3].size(), 97u);
}

TEST(MakeRows, RowsAreSortedDisjointAndComplete) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<Event> events;
    const std::uint32_t count = random() % 80;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto begin = static_cast<Nanoseconds>(random() % 200);
      events.push_back({begin, begin + static_cast<Nanoseconds>(random() % 30), i,
                        static_cast<std::uint16_t>(random() % 3)});
    }
    const auto copy = events;
    const auto rows = make_rows(std::move(events), static_cast<Nanoseconds>(random() % 4), 1 + random() % 8);
    std::multiset<std::uint32_t> items;
    for (const RowColumns& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        items.insert(row.item[i]);
        ASSERT_LE(row.begin[i], row.end[i]);
        if (i > 0) {
          ASSERT_GE(row.begin[i], row.end[i - 1]);
        }
        ASSERT_GE(row.begin[i], copy[row.item[i]].begin);
      }
    }
    ASSERT_EQ(items.size(), count);
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(items.count(i), 1u);
  }
}

TEST(FirstEndingFrom, FindsByBinarySearch) {
  const auto rows = make_rows({{0, 10, 0, 0}, {10, 20, 1, 0}, {30, 40, 2, 0}});
  EXPECT_EQ(first_ending_from(rows[0].columns(), -5), 0u);
  EXPECT_EQ(first_ending_from(rows[0].columns(), 11), 1u);
  EXPECT_EQ(first_ending_from(rows[0].columns(), 41), 3u);
}

}  // namespace
}  // namespace lockstep::viewer
