#include "viewer/timeline/bytes_drawn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

using Stretches = std::vector<std::span<const std::byte>>;

template <class T>
bool holds(const Stretches& stretches, const T& value) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&value);
  return std::any_of(stretches.begin(), stretches.end(), [&](std::span<const std::byte> bytes) {
    return begin >= bytes.data() && begin + sizeof(T) <= bytes.data() + bytes.size();
  });
}

// All rows of a rank.
std::vector<RowOfRank> rows_of(const Scene& scene, std::uint32_t rank) {
  std::vector<RowOfRank> rows;
  const std::vector<TrackLane>& lanes = scene.timeline().ranks[rank].lanes;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane)
    for (std::uint32_t row = 0; row < std::max<std::size_t>(lanes[lane].rows.size(), 1); ++row)
      rows.push_back({rank, lane, row});
  return rows;
}

struct Checked {
  const Scene& scene;
  std::uint32_t rank;
  TimeRange range;
  Stretches stretches = bytes_drawn(scene, rows_of(scene, rank), range);
  std::size_t events = 0;

  bool intersects(Nanoseconds begin, Nanoseconds end) const {
    return begin <= range.end && end >= range.begin;
  }
  template <class T>
  void expect(bool drawn, const T& value) const {
    EXPECT_TRUE(!drawn || holds(stretches, value));
  }
  void expect_row(LaneRole role, const Row& row) {
    const RankData& data = scene.data(rank);
    const bool device = role == LaneRole::compute || role == LaneRole::communication;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!intersects(row.begin[i], row.end[i])) continue;
      ++events;
      expect(true, row.begin[i]);
      expect(true, row.end[i]);
      expect(true, row.item[i]);
      for (const std::size_t at : {i, i > 0 ? i - 1 : 0}) {
        expect(true, row.busy[at]);
        if (!row.wait.empty()) expect(true, row.wait[at]);
      }
      if (role == LaneRole::host) expect(true, data.host_ranges[row.item[i]]);
      if (device) expect(true, data.activities[row.item[i]]);
    }
  }
  void expect_all() {
    const RankData& data = scene.data(rank);
    for (const TrackLane& lane : scene.timeline().ranks[rank].lanes) {
      for (const Row& row : lane.rows) expect_row(lane.role, row);
      for (const auto& point : lane.counter.points) expect(intersects(point.time, point.time), point);
      for (const auto& block : lane.counter.blocks) expect(true, block);
    }
    for (const auto& segment : scene.segments(rank))
      expect(intersects(segment.begin, segment.end - 1), segment);
    for (const auto& step : scene.timeline().ranks[rank].steps)
      expect(intersects(step.begin, step.end), step);
    for (std::size_t i = 0; i < data.communications.size(); ++i) {
      const Nanoseconds begin = data.activities[data.communications[i].activity].begin;
      const bool drawn = intersects(begin, begin);
      expect(drawn, data.communications[i]);
      expect(drawn, data.collective_of[i]);
    }
  }
};

// Whatever intersects the range, found by looking at all there is.
TEST(BytesDrawn, HoldAllThatIntersectsTheRange) {
  const View view;
  const TimeRange content = view.scene->timeline().content;
  std::mt19937_64 random(3);
  std::size_t events = 0;
  for (int round = 0; round < 500; ++round) {
    const auto any = [&] {
      return content.begin - 50 +
             static_cast<Nanoseconds>(random() % (distance(content.begin, content.end) + 100));
    };
    const auto [begin, end] = std::minmax({any(), any()});
    Checked checked{*view.scene, static_cast<std::uint32_t>(random() % view.scene->timeline().ranks.size()),
                    TimeRange{begin, round % 2 == 0 ? end : begin}};
    checked.expect_all();
    events += checked.events;
  }
  EXPECT_GT(events, 1000u);
}

// What is read follows the range, not the run.
TEST(BytesDrawn, OfAShortRangeAreFew) {
  SyntheticOptions options;
  options.steps = 200;
  const View view(options);
  const auto size_of = [&](const TimeRange& range) {
    std::size_t size = 0;
    for (const auto bytes : bytes_drawn(*view.scene, rows_of(*view.scene, 0), range)) size += bytes.size();
    return size;
  };
  const TimeRange content = view.scene->timeline().content;
  const Nanoseconds middle = content.begin + (content.end - content.begin) / 2;
  EXPECT_LT(size_of({middle, middle + 1}) * 4, size_of(content));
}

TEST(BytesDrawn, AreSortedDisjointAndNotEmpty) {
  const View view;
  const TimeRange content = view.scene->timeline().content;
  for (const TimeRange& range :
       {content, TimeRange{content.begin - 1'000'000, content.begin - 999'999},
        TimeRange{content.end + 999'999, content.end + 1'000'000},
        TimeRange{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()}}) {
    for (std::uint32_t rank = 0; rank < view.scene->timeline().ranks.size(); ++rank) {
      const std::byte* end = nullptr;
      for (const auto bytes : bytes_drawn(*view.scene, rows_of(*view.scene, rank), range)) {
        EXPECT_FALSE(bytes.empty());
        EXPECT_GT(bytes.data(), end);
        end = bytes.data() + bytes.size();
      }
    }
  }
}

// Each rank once, in the order of its first row.
std::vector<std::uint32_t> ranks_of(const std::vector<RowOfRank>& rows) {
  std::vector<std::uint32_t> ranks;
  for (const RowOfRank& row : rows)
    if (ranks.empty() || ranks.back() != row.rank) ranks.push_back(row.rank);
  return ranks;
}

TEST(RowsNear, AreThoseOnTheScreenAndThenAPageBelowAndAboveTheNearestFirst) {
  SyntheticOptions options;
  options.late.assign(40, 0);
  View view(options);
  view.whole.bottom = view.whole.top + 300;
  view.state.order.pinned = {39};
  view.arrange();
  view.state.scroll = view.layout.ranks[12].y - view.layout.fixed_height;
  const Frame frame = view.frame();
  const auto on_screen = frame.ranks_on_screen(false);
  ASSERT_FALSE(on_screen.empty());
  ASSERT_GT(on_screen.front(), on_screen.size());
  std::vector<std::uint32_t> expected{39};
  expected.insert(expected.end(), on_screen.begin(), on_screen.end());
  for (std::uint32_t i = 1; i <= on_screen.size(); ++i) {
    expected.push_back(on_screen.back() + i);
    expected.push_back(on_screen.front() - i);
  }
  EXPECT_EQ(ranks_of(rows_near(frame)), expected);
}

TEST(RowsNear, EndWithTheRanksThereAre) {
  SyntheticOptions options;
  options.late.assign(3, 0);
  const View view(options);
  EXPECT_EQ(ranks_of(rows_near(view.frame())), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(RowsNear, LeaveOutWhatIsClosed) {
  View view;
  const auto is_host = [&](const RowOfRank& row) {
    return view.scene->timeline().ranks[row.rank].lanes[row.lane].role == LaneRole::host;
  };
  view.state.expansion.set_all(view.scene->timeline(), LaneRole::host, true);
  view.arrange();
  const std::vector<RowOfRank> open = rows_near(view.frame());
  ASSERT_TRUE(std::any_of(open.begin(), open.end(), is_host));
  view.state.expansion.toggle_ranks();
  view.arrange();
  const std::vector<RowOfRank> closed = rows_near(view.frame());
  EXPECT_EQ(ranks_of(closed), ranks_of(open));
  EXPECT_EQ(closed.size(), ranks_of(closed).size()) << "the step bars alone";
}

}  // namespace
}  // namespace lockstep::viewer
