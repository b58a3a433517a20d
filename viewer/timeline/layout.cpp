#include "viewer/timeline/layout.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace lockstep::viewer {

namespace {

constexpr int Sizes::*kEachSize[] = {
    &Sizes::gutter,      &Sizes::ruler,      &Sizes::minimap_row, &Sizes::minimap_least, &Sizes::minimap_most,
    &Sizes::padding,     &Sizes::step_strip, &Sizes::cause,       &Sizes::lane,          &Sizes::host,
    &Sizes::host_folded, &Sizes::row_gap,    &Sizes::rank_gap,    &Sizes::section};
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

Sizes wordy() {
  Sizes sizes = spacious();
  sizes.cause = 64;
  return sizes;
}

Regions divide(const Rect& whole, const Sizes& sizes, std::size_t ranks) {
  // Of a small window at most a quarter of the height, and none where that is too low to be one; and at most
  // so much of the width that the lanes are wider than their names.
  constexpr float kMapShare = 0.25F, kGutterShare = 0.36F;
  const double wanted = static_cast<double>(ranks) * sizes.minimap_row;
  auto map = static_cast<float>(
      ranks == 0 ? 0 : std::clamp<double>(wanted, sizes.minimap_least, sizes.minimap_most));
  map = std::min(map, std::floor(whole.height() * kMapShare));
  if (map < static_cast<float>(sizes.minimap_least)) map = 0;
  const auto padding = static_cast<float>(sizes.padding);
  const float gutter =
      std::min(static_cast<float>(sizes.gutter), std::floor(std::max(whole.width(), 0.0F) * kGutterShare));
  const float left = std::min(whole.left + gutter, whole.right);
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

void Expansion::toggle_all(const Timeline& timeline, LaneRole role) {
  bool any = false;
  bool all_open = true;
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    for (std::size_t l = 0; l < timeline.ranks[r].lanes.size(); ++l) {
      if (timeline.ranks[r].lanes[l].role != role) continue;
      any = true;
      all_open = all_open && lanes_[r][l];
    }
  }
  // Of lanes that a run does not have nobody wants anything.
  if (any) want(timeline, role, !all_open);
}

std::optional<bool> Expansion::wanted(LaneRole role) const {
  if (role == LaneRole::host) return hosts_wanted_;
  return role == LaneRole::counter ? counters_wanted_ : std::nullopt;
}

void Expansion::want(const Timeline& timeline, LaneRole role, bool open) {
  if (role == LaneRole::host) hosts_wanted_ = open;
  if (role == LaneRole::counter) counters_wanted_ = open;
  set_all(timeline, role, open);
}

void Expansion::set_all(const Timeline& timeline, LaneRole role, bool open) {
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    for (std::size_t l = 0; l < timeline.ranks[r].lanes.size(); ++l) {
      if (timeline.ranks[r].lanes[l].role == role) lanes_[r][l] = open;
    }
  }
}

void Expansion::toggle_ranks() {
  const bool any_open = std::find(ranks_.begin(), ranks_.end(), true) != ranks_.end();
  std::fill(ranks_.begin(), ranks_.end(), !any_open);
}

namespace {

// Adds a rank below everything that is there.
void add_rank(const Timeline& timeline, const Expansion& expansion, const Sizes& sizes, std::uint32_t r,
              Layout& layout) {
  const RankTracks& tracks = timeline.ranks[r];
  RankPlace& place = layout.ranks[r];
  place.y = layout.height;
  place.first_row = static_cast<std::uint32_t>(layout.rows.size());
  int y = sizes.step_strip;
  const auto add = [&](std::size_t lane, std::size_t row, int height) {
    layout.rows.push_back({static_cast<std::uint32_t>(lane), static_cast<std::uint32_t>(row), y, height});
    y += height + sizes.row_gap;
  };
  // The rank's name stands beside its step bar, and keeps its room where there is none.
  const auto is_bar = [](const TrackLane& lane) {
    return lane.role == LaneRole::causes && !lane.rows.empty();
  };
  if (std::ranges::none_of(tracks.lanes, is_bar)) y += sizes.cause + sizes.row_gap;
  for (std::size_t l = 0; l < tracks.lanes.size(); ++l) {
    const TrackLane& lane = tracks.lanes[l];
    if (!expansion.rank_open(r) && lane.role != LaneRole::causes) continue;
    if (lane.role == LaneRole::host && !expansion.lane_open(r, l)) {
      add(l, 0, sizes.host_folded);
      continue;
    }
    if (lane.role == LaneRole::counter) {
      if (expansion.lane_open(r, l)) add(l, 0, sizes.lane);
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
  layout.shown.push_back(r);
  layout.height += place.height;
}

}  // namespace

Layout lay_out(const Timeline& timeline, const Expansion& expansion, const Sizes& sizes,
               const RankSequence& sequence, int room) {
  Layout layout;
  layout.ranks.resize(timeline.ranks.size());
  layout.shown.reserve(sequence.ranks.size());
  std::size_t section = 0;
  const auto add_sections = [&](std::size_t before) {
    for (; section < sequence.sections.size() && sequence.sections[section].first <= before; ++section) {
      const RankSection& each = sequence.sections[section];
      layout.sections.push_back(
          {layout.height, sizes.section, each.open, each.title, each.summary, each.key});
      layout.height += sizes.section;
    }
  };
  for (std::size_t at = 0; at < sequence.ranks.size(); ++at) {
    if (at >= sequence.pinned) add_sections(at);
    add_rank(timeline, expansion, sizes, sequence.ranks[at], layout);
    if (at < sequence.pinned && layout.fixed == at && layout.height <= room / 3 * 2) {
      layout.fixed = at + 1;
      layout.fixed_height = layout.height;
    }
  }
  add_sections(sequence.ranks.size());
  return layout;
}

Layout lay_out(const Timeline& timeline, const Expansion& expansion, const Sizes& sizes) {
  return lay_out(timeline, expansion, sizes, all_ranks(timeline.ranks.size()), 0);
}

namespace {

bool fits(const Timeline& timeline, const Expansion& expansion, const Sizes& sizes, const Rect& whole,
          const RankSequence& sequence) {
  const Regions regions = divide(whole, sizes, sequence.ranks.size());
  return static_cast<float>(lay_out(timeline, expansion, sizes, sequence, 0).height) <=
         regions.lanes.height();
}

}  // namespace

Sizes choose_sizes(const Timeline& timeline, const Expansion& expansion, double scale, const Rect& whole,
                   const RankSequence& sequence) {
  constexpr int kSteps = 4;
  const auto at_scale = [&](Sizes sizes) {
    // In place of the map stands the verdict, which is as long of one rank as of all.
    if (timeline.order_alone) sizes.minimap_row = sizes.minimap_most;
    return scaled(sizes, scale);
  };
  std::vector<std::pair<Sizes, Sizes>> ways{{spacious(), Sizes{}}, {Sizes{}, compact()}};
  if (timeline.order_alone) ways.insert(ways.begin(), {wordy(), spacious()});
  for (const auto& [from, to] : ways) {
    for (int step = 0; step < kSteps; ++step) {
      const Sizes sizes = at_scale(between(from, to, static_cast<double>(step) / kSteps));
      if (fits(timeline, expansion, sizes, whole, sequence)) return sizes;
    }
  }
  return at_scale(compact());
}

Sizes choose_sizes(const Timeline& timeline, const Expansion& expansion, double scale, const Rect& whole) {
  return choose_sizes(timeline, expansion, scale, whole, all_ranks(timeline.ranks.size()));
}

Expansion expansion_of(const Timeline& timeline, LanesShown shown) {
  Expansion expansion(timeline);
  if (shown == LanesShown::hosts) expansion.set_all(timeline, LaneRole::host, true);
  if (shown == LanesShown::bars) expansion.toggle_ranks();
  return expansion;
}

LanesShown choose_lanes(const Timeline& timeline, double scale, const Rect& whole) {
  const RankSequence all = all_ranks(timeline.ranks.size());
  if (fits(timeline, expansion_of(timeline, LanesShown::hosts), scaled(Sizes{}, scale), whole, all))
    return LanesShown::hosts;
  // In a low window one rank would fill everything: who waits for whom takes several.
  constexpr int kLeastRanks = 3;
  if (timeline.ranks.size() < kLeastRanks) return LanesShown::devices;
  const Sizes smallest = scaled(compact(), scale);
  const Layout layout = lay_out(timeline, expansion_of(timeline, LanesShown::devices), smallest);
  const RankPlace& last = layout.ranks[kLeastRanks - 1];
  const float room = divide(whole, smallest, timeline.ranks.size()).lanes.height();
  return static_cast<float>(last.y + last.height - smallest.rank_gap) > room ? LanesShown::bars
                                                                             : LanesShown::devices;
}

Expansion choose_expansion(const Timeline& timeline, double scale, const Rect& whole) {
  return expansion_of(timeline, choose_lanes(timeline, scale, whole));
}

std::pair<std::size_t, std::size_t> ranks_between(const Layout& layout, int top, int bottom) {
  const auto begin = layout.shown.begin();
  const auto first = std::partition_point(
      begin + static_cast<std::ptrdiff_t>(layout.fixed), layout.shown.end(),
      [&](std::uint32_t rank) { return layout.ranks[rank].y + layout.ranks[rank].height <= top; });
  const auto last = std::partition_point(first, layout.shown.end(),
                                         [&](std::uint32_t rank) { return layout.ranks[rank].y < bottom; });
  return {static_cast<std::size_t>(first - begin), static_cast<std::size_t>(last - begin)};
}

RowHit row_at(const Layout& layout, int y) {
  RowHit hit;
  const auto below = [y](const auto& place) { return place.y + place.height <= y; };
  const auto section = std::partition_point(layout.sections.begin(), layout.sections.end(), below);
  if (section != layout.sections.end() && y >= section->y) {
    hit.section = static_cast<std::uint32_t>(section - layout.sections.begin());
    return hit;
  }
  const auto at = std::partition_point(layout.shown.begin(), layout.shown.end(),
                                       [&](std::uint32_t rank) { return below(layout.ranks[rank]); });
  if (at == layout.shown.end() || y < layout.ranks[*at].y) return hit;
  const RankPlace& place = layout.ranks[*at];
  hit.rank = *at;
  for (std::uint32_t i = 0; i < place.row_count; ++i) {
    const RowPlace& row = layout.rows[place.first_row + i];
    if (y >= place.y + row.y && y < place.y + row.y + row.height) hit.row = row;
  }
  return hit;
}

}  // namespace lockstep::viewer
