#include "viewer/timeline/folding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace lockstep::viewer {
namespace {

constexpr Nanoseconds kMin = std::numeric_limits<Nanoseconds>::min();
constexpr Nanoseconds kMax = std::numeric_limits<Nanoseconds>::max();

RowColumns row_of(std::vector<std::pair<Nanoseconds, Nanoseconds>> intervals) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    events.push_back({intervals[i].first, intervals[i].second, static_cast<std::uint32_t>(i), 0});
  }
  std::vector<RowColumns> rows = make_rows(std::move(events));
  return rows.empty() ? RowColumns{} : rows.front();
}

std::vector<FoldedBox> folded(const RowColumns& row, TimeRange visible, std::uint64_t smallest) {
  std::vector<FoldedBox> boxes;
  fold(row.columns(), visible, smallest, boxes);
  return boxes;
}

// The same by looking at every event: what is drawn as itself, and which runs become boxes.
std::vector<FoldedBox> oracle(const RowColumns& row, TimeRange visible, std::uint64_t smallest) {
  std::vector<FoldedBox> boxes;
  bool open = false;
  for (std::uint32_t i = 0; i < row.size(); ++i) {
    if (row.end[i] < visible.begin || row.begin[i] > visible.end) continue;
    const bool small = distance(row.begin[i], row.end[i]) < smallest;
    if (open && small && distance(boxes.back().end, row.begin[i]) < smallest) {
      ++boxes.back().count;
      boxes.back().end = row.end[i];
    } else {
      boxes.push_back({i, 1, row.begin[i], row.end[i]});
    }
    open = small;
  }
  return boxes;
}

bool operator==(const FoldedBox& a, const FoldedBox& b) {
  return a.first == b.first && a.count == b.count && a.begin == b.begin && a.end == b.end;
}

RowColumns random_row(std::mt19937_64& random, Nanoseconds begin) {
  const std::size_t count = random() % 60;
  Nanoseconds at = begin;
  std::vector<std::pair<Nanoseconds, Nanoseconds>> intervals;
  for (std::size_t i = 0; i < count; ++i) {
    // Gaps and lengths over several orders of magnitude, zero among them.
    at += static_cast<Nanoseconds>(random() % (std::uint64_t{1} << (random() % 8)));
    const auto length = static_cast<Nanoseconds>(random() % (std::uint64_t{1} << (random() % 8)));
    intervals.emplace_back(at, at + length);
    at += length;
  }
  return row_of(std::move(intervals));
}

TEST(Fold, AgreesWithLookingAtEveryEvent) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20'000; ++round) {
    const Nanoseconds begin = round % 2 == 0 ? 0 : 1'700'000'000'123'456'789;
    const RowColumns row = random_row(random, begin);
    const Nanoseconds from = begin + static_cast<Nanoseconds>(random() % 2000) - 500;
    const TimeRange visible{from, from + static_cast<Nanoseconds>(random() % 2000)};
    const std::uint64_t smallest = 1 + random() % 60;
    const std::vector<FoldedBox> boxes = folded(row, visible, smallest);
    const std::vector<FoldedBox> expected = oracle(row, visible, smallest);
    ASSERT_EQ(boxes.size(), expected.size()) << round;
    for (std::size_t i = 0; i < boxes.size(); ++i)
      ASSERT_TRUE(boxes[i] == expected[i]) << round << " box " << i;
  }
}

TEST(Fold, ShowsEveryVisibleEventInExactlyOneBox) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 5'000; ++round) {
    const RowColumns row = random_row(random, -700);
    const TimeRange visible{static_cast<Nanoseconds>(random() % 1000) - 500, 600};
    const std::uint64_t smallest = 1 + random() % 40;
    std::vector<int> shown(row.size(), 0);
    Nanoseconds last_end = kMin;
    for (const FoldedBox& box : folded(row, visible, smallest)) {
      ASSERT_GE(box.count, 1u);
      ASSERT_GE(box.begin, last_end) << "boxes are sorted and disjoint";
      last_end = box.end;
      ASSERT_EQ(box.begin, row.begin[box.first]);
      ASSERT_EQ(box.end, row.end[box.first + box.count - 1]);
      for (std::uint32_t i = box.first; i < box.first + box.count; ++i) {
        ++shown[i];
        if (box.count > 1) {
          ASSERT_LT(distance(row.begin[i], row.end[i]), smallest) << "what can be seen is not folded";
        }
      }
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool visible_event = row.end[i] >= visible.begin && row.begin[i] <= visible.end;
      ASSERT_EQ(shown[i], visible_event ? 1 : 0) << round << " event " << i;
    }
  }
}

TEST(Fold, AMillionEventsAtOneInstantAreOneBox) {
  const RowColumns row = row_of(std::vector<std::pair<Nanoseconds, Nanoseconds>>(1'000'000, {42, 42}));
  const auto boxes = folded(row, {0, 100}, 1);
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_EQ(boxes[0].count, 1'000'000u);
  EXPECT_EQ(boxes[0].begin, 42);
  EXPECT_EQ(boxes[0].end, 42);
}

TEST(Fold, IsAtMostTwoBoxesPerFoldWidth) {
  std::vector<std::pair<Nanoseconds, Nanoseconds>> intervals;
  for (Nanoseconds i = 0; i < 300'000; ++i) intervals.emplace_back(i * 10, i * 10 + i % 10);
  const RowColumns row = row_of(std::move(intervals));
  for (const double span : {100.0, 10'000.0, 1'000'000.0, 3'000'000.0}) {
    const TimeAxis axis{{1'000, 0, span}, 0, 1000};
    const auto boxes = folded(row, axis.visible(), threshold(axis));
    EXPECT_LE(boxes.size(), 2 * 1000 / kFoldPixels + 2) << span;
  }
}

TEST(Fold, HandlesTheEndsOfInt64) {
  const RowColumns row = row_of({{kMin, kMin + 1}, {kMin + 1, -5}, {0, kMax - 1}, {kMax, kMax}});
  const auto boxes = folded(row, {kMin, kMax}, std::uint64_t{1} << 62);
  ASSERT_EQ(boxes.size(), 4u);
  EXPECT_EQ(folded(row, {kMin, kMax}, std::numeric_limits<std::uint64_t>::max()).size(), 1u);
}

TEST(Fold, AnEmptyRowHasNoBoxes) {
  EXPECT_TRUE(folded(RowColumns{}, {kMin, kMax}, 3).empty());
}

TEST(PixelPlacer, GivesEveryBoxAPixelOfItsOwn) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2'000; ++round) {
    const RowColumns row = random_row(random, 0);
    const TimeAxis axis{
        {static_cast<Nanoseconds>(random() % 200) - 100, 0, 50.0 + static_cast<double>(random() % 3000)},
        10,
        500};
    PixelPlacer placer(axis);
    int free_from = 10;
    for (const FoldedBox& box : folded(row, axis.visible(), threshold(axis))) {
      const PixelSpan span = placer.place(box.begin, box.end);
      ASSERT_GE(span.left, free_from);
      ASSERT_GE(span.width(), 1);
      ASSERT_LE(span.right, 512);
      free_from = span.right;
      // Where it belongs, give or take the pixel that a neighbour took.
      const double x = std::clamp(axis.x(box.begin), 10.0, 510.0);
      ASSERT_NEAR(span.left, x, 2.0);
    }
  }
}

TEST(Density, IsTheShareOfTimeInWhichSomethingRuns) {
  const RowColumns row = row_of({{0, 10}, {20, 30}, {30, 50}});
  EXPECT_DOUBLE_EQ(density(row.columns(), {0, 3, 0, 50}), 0.8);
  EXPECT_DOUBLE_EQ(density(row.columns(), {1, 2, 20, 50}), 1.0);
  EXPECT_DOUBLE_EQ(density(row.columns(), {0, 1, 7, 7}), 1.0);
}

}  // namespace
}  // namespace lockstep::viewer
