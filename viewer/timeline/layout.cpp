#include "viewer/timeline/layout.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace lockstep::viewer {

namespace {

constexpr int Sizes::*kEachSize[] = {&Sizes::gutter,       &Sizes::ruler,   &Sizes::minimap_row,
                                     &Sizes::minimap_most, &Sizes::padding, &Sizes::step_strip,
                                     &Sizes::cause,        &Sizes::lane,    &Sizes::host,
                                     &Sizes::host_folded,  &Sizes::row_gap, &Sizes::rank_gap};
static_assert(sizeof(Sizes) == sizeof(int) * std::size(kEachSize), "a size is missing above");

// share 0: from; 1: to.
Sizes between(const Sizes& from, const Sizes& to, double share) {
  Sizes result;
  for (const auto size : kEachSize) {
    result.*size = static_cast<int>(std::lround(from.*size + (to.*size - from.*size) * share));
  }
  return result;
}

}  // namespace

Sizes scaled(const Sizes& sizes, double scale) {
  Sizes result;
  for (const auto size : kEachSize) {
    result.*size = std::max(1, static_cast<int>(std::lround(sizes.*size * scale)));
  }
  return result;
}

Sizes compact() {
  Sizes sizes;
  sizes.step_strip = 13;
  sizes.cause = 19;
  sizes.lane = 12;
  sizes.host = 13;
  sizes.host_folded = 5;
  sizes.row_gap = 1;
  sizes.rank_gap = 7;
  return sizes;
}

Sizes spacious() {
  Sizes sizes;
  sizes.step_strip = 18;
  sizes.cause = 32;
  sizes.lane = 24;
  sizes.host = 17;
  sizes.host_folded = 9;
  sizes.row_gap = 3;
  sizes.rank_gap = 14;
  return sizes;
}

Regions divide(const Rect& whole, const Sizes& sizes, std::size_t ranks) {
  const double wanted = static_cast<double>(ranks) * sizes.minimap_row;
  const auto map = static_cast<float>(std::min<double>(wanted, sizes.minimap_most));
  const auto padding = static_cast<float>(sizes.padding);
  const float left = std::min(whole.left + static_cast<float>(sizes.gutter), whole.right);
  const float right = std::max(left, whole.right - padding);
  const float map_bottom = std::min(whole.top + map, whole.bottom);
  const float ruler_top = std::min(map_bottom + (map > 0 ? padding / 2 : 0), whole.bottom);
  const float ruler_bottom = std::min(ruler_top + static_cast<float>(sizes.ruler), whole.bottom);
  Regions regions;
  regions.minimap = {left, whole.top, right, map_bottom};
  regions.ruler = {left, ruler_top, right, ruler_bottom};
  regions.gutter = {whole.left, ruler_bottom, left, whole.bottom};
  regions.lanes = {left, ruler_bottom, right, whole.bottom};
  return regions;
}

Expansion::Expansion(const Timeline& timeline) : ranks_(timeline.ranks.size(), true) {
  for (const RankTracks& rank : timeline.ranks) lanes_.emplace_back(rank.lanes.size(), false);
}

void Expansion::toggle_hosts(const Timeline& timeline) {
  bool all_open = true;
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    for (std::size_t l = 0; l < timeline.ranks[r].lanes.size(); ++l) {
      if (timeline.ranks[r].lanes[l].role == LaneRole::host && !lanes_[r][l]) all_open = false;
    }
  }
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    for (std::size_t l = 0; l < timeline.ranks[r].lanes.size(); ++l) {
      if (timeline.ranks[r].lanes[l].role == LaneRole::host) lanes_[r][l] = !all_open;
    }
  }
}

void Expansion::toggle_ranks() {
  const bool any_open = std::find(ranks_.begin(), ranks_.end(), true) != ranks_.end();
  std::fill(ranks_.begin(), ranks_.end(), !any_open);
}

Layout lay_out(const Timeline& timeline, const Expansion& expansion, const Sizes& sizes) {
  Layout layout;
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    const RankTracks& tracks = timeline.ranks[r];
    RankPlace place;
    place.y = layout.height;
    place.first_row = static_cast<std::uint32_t>(layout.rows.size());
    int y = sizes.step_strip;
    const auto add = [&](std::size_t lane, std::size_t row, int height) {
      layout.rows.push_back({static_cast<std::uint32_t>(lane), static_cast<std::uint32_t>(row), y, height});
      y += height + sizes.row_gap;
    };
    for (std::size_t l = 0; l < tracks.lanes.size(); ++l) {
      const TrackLane& lane = tracks.lanes[l];
      if (!expansion.rank_open(r) && lane.role != LaneRole::causes) continue;
      if (lane.role == LaneRole::host && !expansion.lane_open(r, l)) {
        add(l, 0, sizes.host_folded);
        continue;
      }
      const int height = lane.role == LaneRole::causes ? sizes.cause
                         : lane.role == LaneRole::host ? sizes.host
                                                       : sizes.lane;
      for (std::size_t row = 0; row < lane.rows.size(); ++row) {
        add(l, row, height);
        if (lane.role == LaneRole::host) y -= sizes.row_gap - 1;  // depths of one thread stand close together
      }
    }
    // A rank of which nothing is known keeps the room for its name.
    place.height = std::max(y, sizes.step_strip + sizes.cause) + sizes.rank_gap;
    place.row_count = static_cast<std::uint32_t>(layout.rows.size()) - place.first_row;
    layout.ranks.push_back(place);
    layout.height += place.height;
  }
  return layout;
}

namespace {

bool fits(const Timeline& timeline, const Expansion& expansion, const Sizes& sizes, const Rect& whole) {
  const Regions regions = divide(whole, sizes, timeline.ranks.size());
  return static_cast<float>(lay_out(timeline, expansion, sizes).height) <= regions.lanes.height();
}

}  // namespace

Sizes choose_sizes(const Timeline& timeline, const Expansion& expansion, double scale, const Rect& whole) {
  constexpr int kSteps = 4;
  for (const auto& [from, to] : {std::pair{spacious(), Sizes{}}, std::pair{Sizes{}, compact()}}) {
    for (int step = 0; step < kSteps; ++step) {
      const Sizes sizes = scaled(between(from, to, static_cast<double>(step) / kSteps), scale);
      if (fits(timeline, expansion, sizes, whole)) return sizes;
    }
  }
  return scaled(compact(), scale);
}

Expansion choose_expansion(const Timeline& timeline, double scale, const Rect& whole) {
  Expansion open(timeline);
  open.toggle_hosts(timeline);
  return fits(timeline, open, scaled(Sizes{}, scale), whole) ? open : Expansion(timeline);
}

std::pair<std::size_t, std::size_t> ranks_between(const Layout& layout, int top, int bottom) {
  const auto begin = layout.ranks.begin();
  const auto first = std::partition_point(
      begin, layout.ranks.end(), [top](const RankPlace& place) { return place.y + place.height <= top; });
  const auto last = std::partition_point(first, layout.ranks.end(),
                                         [bottom](const RankPlace& place) { return place.y < bottom; });
  return {static_cast<std::size_t>(first - begin), static_cast<std::size_t>(last - begin)};
}

RowHit row_at(const Layout& layout, int y) {
  RowHit hit;
  const auto [first, last] = ranks_between(layout, y, y + 1);
  if (first == last) return hit;
  const RankPlace& place = layout.ranks[first];
  hit.rank = static_cast<std::uint32_t>(first);
  for (std::uint32_t i = 0; i < place.row_count; ++i) {
    const RowPlace& row = layout.rows[place.first_row + i];
    if (y >= place.y + row.y && y < place.y + row.y + row.height) hit.row = row;
  }
  return hit;
}

}  // namespace lockstep::viewer
