#include "viewer/timeline/layout.h"

#include <gtest/gtest.h>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

TEST(Layout, RowsStandBelowEachOtherAndRanksToo) {
  const View view;
  int bottom = 0;
  for (const RankPlace& rank : view.layout.ranks) {
    EXPECT_EQ(rank.y, bottom);
    bottom += rank.height;
    int row_bottom = view.sizes.step_strip;
    for (std::uint32_t i = 0; i < rank.row_count; ++i) {
      const RowPlace& row = view.layout.rows[rank.first_row + i];
      EXPECT_GE(row.y, row_bottom);
      row_bottom = row.y + row.height;
    }
    EXPECT_LT(row_bottom, rank.height);
  }
  EXPECT_EQ(view.layout.height, bottom);
}

TEST(Layout, HostRangesAreOneThinRowUntilOpened) {
  View view;
  EXPECT_EQ(view.layout.ranks[0].row_count, 4u);
  EXPECT_EQ(view.place(0, LaneRole::host).height, view.sizes.host_folded);
  view.state.expansion.toggle_lane(0, 3);
  view.arrange();
  EXPECT_EQ(view.layout.ranks[0].row_count, 5u) << "two depths";
  EXPECT_EQ(view.place(0, LaneRole::host).height, view.sizes.host);
  EXPECT_EQ(view.layout.ranks[1].row_count, 4u) << "the other ranks stay as they are";
}

TEST(Layout, AClosedRankKeepsItsStepBar) {
  View view;
  view.state.expansion.toggle_rank(1);
  view.arrange();
  ASSERT_EQ(view.layout.ranks[1].row_count, 1u);
  EXPECT_EQ(view.place(1, LaneRole::causes).height, view.sizes.cause);
}

TEST(Expansion, TogglesAllHostsAndAllRanks) {
  View view;
  view.state.expansion.toggle_lane(2, 3);
  view.state.expansion.toggle_hosts(view.scene->timeline());
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_TRUE(view.state.expansion.lane_open(rank, 3));
  view.state.expansion.toggle_hosts(view.scene->timeline());
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_FALSE(view.state.expansion.lane_open(rank, 3));
  view.state.expansion.toggle_ranks();
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_FALSE(view.state.expansion.rank_open(rank));
  view.state.expansion.toggle_ranks();
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_TRUE(view.state.expansion.rank_open(rank));
}

TEST(Regions, OfASmallWindowKeepRoomForTheLanes) {
  const Sizes sizes;
  const Regions small = divide({0, 0, 320, 150}, sizes, 8);
  EXPECT_GT(small.lanes.width(), small.gutter.width());
  EXPECT_LE(small.minimap.height(), 150 * 0.25F);
  EXPECT_GE(small.minimap.height(), sizes.minimap_least);
  const Regions low = divide({0, 0, 320, 80}, sizes, 8);
  EXPECT_EQ(low.minimap.height(), 0) << "too low to be a map";
  EXPECT_EQ(low.ruler.top, 0);
  EXPECT_GT(low.lanes.height(), 40);
  // Of a large one nothing changes.
  EXPECT_EQ(divide({0, 0, 1000, 700}, sizes, 8).gutter.width(), sizes.gutter);
}

TEST(Expansion, ShowsStepBarsAloneWhereFewRanksFit) {
  const View view;  // four ranks
  const Timeline& timeline = view.scene->timeline();
  const auto open_in = [&](float height) {
    return choose_expansion(timeline, 1, {0, 0, 800, height}).rank_open(0);
  };
  EXPECT_TRUE(open_in(800));
  EXPECT_FALSE(open_in(150));
  // Where they stand closed, three fit into the height in which they would not have open.
  float height = 800;
  while (open_in(height)) --height;
  const Regions regions = divide({0, 0, 800, height}, compact(), 4);
  const Layout open = lay_out(timeline, Expansion(timeline), compact());
  const Layout closed = lay_out(timeline, choose_expansion(timeline, 1, {0, 0, 800, height}), compact());
  EXPECT_GT(open.ranks[2].y + open.ranks[2].height, regions.lanes.height());
  EXPECT_LE(closed.ranks[2].y + closed.ranks[2].height, regions.lanes.height());
}

TEST(RanksBetween, FindsWhatIsOnTheScreenAmongAThousand) {
  SyntheticOptions options;
  options.late.assign(1'000, 0);
  options.steps = 1;
  const View view(options);
  const int height = view.layout.ranks[0].height;
  EXPECT_EQ(ranks_between(view.layout, 0, height), (std::pair<std::size_t, std::size_t>(0, 1)));
  EXPECT_EQ(ranks_between(view.layout, height - 1, height + 1), (std::pair<std::size_t, std::size_t>(0, 2)));
  EXPECT_EQ(ranks_between(view.layout, 500 * height, 503 * height),
            (std::pair<std::size_t, std::size_t>(500, 503)));
  EXPECT_EQ(ranks_between(view.layout, view.layout.height, view.layout.height + 10).first, 1'000u);
}

TEST(RowAt, FindsTheRowAndTheGapsBetween) {
  const View view;
  const RankPlace& rank = view.layout.ranks[1];
  const RowPlace& row = view.layout.rows[rank.first_row + 1];
  const RowHit hit = row_at(view.layout, rank.y + row.y);
  EXPECT_EQ(hit.rank, 1u);
  ASSERT_TRUE(hit.row.has_value());
  EXPECT_EQ(hit.row->lane, row.lane);
  EXPECT_FALSE(row_at(view.layout, rank.y + row.y - 1).row.has_value());
  EXPECT_FALSE(row_at(view.layout, -1).rank.has_value());
  EXPECT_FALSE(row_at(view.layout, view.layout.height).rank.has_value());
}

TEST(Divide, SharesTheSpaceWithoutOverlap) {
  const Regions regions = divide({0, 10, 1000, 700}, Sizes{}, 8);
  EXPECT_EQ(regions.minimap.height(), 8 * Sizes{}.minimap_row);
  EXPECT_LE(regions.minimap.bottom, regions.ruler.top);
  EXPECT_EQ(regions.ruler.bottom, regions.lanes.top);
  EXPECT_EQ(regions.gutter.right, regions.lanes.left);
  EXPECT_EQ(regions.lanes.bottom, 700);
  EXPECT_EQ(divide({0, 0, 1000, 700}, Sizes{}, 5'000).minimap.height(), Sizes{}.minimap_most);
  // A window too small for anything still has no region turned inside out.
  const Regions tiny = divide({0, 0, 50, 5}, Sizes{}, 8);
  for (const Rect& rect : {tiny.minimap, tiny.ruler, tiny.gutter, tiny.lanes}) {
    EXPECT_GE(rect.width(), 0);
    EXPECT_GE(rect.height(), 0);
  }
}

TEST(ChooseSizes, FillsTheHeightAndNoMore) {
  const View view;
  const Timeline& timeline = view.scene->timeline();
  const Expansion& expansion = view.state.expansion;
  const auto lane_at = [&](float height) {
    return choose_sizes(timeline, expansion, 1, {0, 0, 1200, height}).lane;
  };
  int last = compact().lane;
  EXPECT_EQ(lane_at(100), last) << "does not fit anyhow";
  for (float height = 100; height < 2'000; height += 10) {
    const Rect whole{0, 0, 1200, height};
    const Sizes sizes = choose_sizes(timeline, expansion, 1, whole);
    EXPECT_GE(sizes.lane, last) << "more room, higher rows";
    last = sizes.lane;
    if (sizes.lane > compact().lane) {
      const Regions regions = divide(whole, sizes, timeline.ranks.size());
      EXPECT_LE(static_cast<float>(lay_out(timeline, expansion, sizes).height), regions.lanes.height());
    }
  }
  EXPECT_EQ(last, spacious().lane);
}

TEST(ChooseExpansion, OpensHostsWhereTheyFit) {
  const View view;
  const Timeline& timeline = view.scene->timeline();
  EXPECT_TRUE(choose_expansion(timeline, 1, {0, 0, 1200, 2'000}).lane_open(0, 3));
  EXPECT_FALSE(choose_expansion(timeline, 1, {0, 0, 1200, 300}).lane_open(0, 3));
  EXPECT_TRUE(choose_expansion(timeline, 1, {0, 0, 1200, 300}).rank_open(0));
}

TEST(Scaled, DoublesEverything) {
  const Sizes sizes = scaled(Sizes{}, 2);
  EXPECT_EQ(sizes.gutter, 2 * Sizes{}.gutter);
  EXPECT_EQ(sizes.row_gap, 2 * Sizes{}.row_gap);
}

}  // namespace
}  // namespace lockstep::viewer
