#include "viewer/journey/places.h"

#include <algorithm>
#include <cmath>

namespace lockstep::viewer::journey {

Places::Places(const TimelinePane& pane)
    : scene_(pane.scene()),
      state_(pane.state()),
      layout_(lay_out(scene_.timeline(), state_.expansion, pane.sizes())),
      regions_(divide(pane.area(), pane.sizes(), scene_.timeline().ranks.size())),
      axis_{state_.view, regions_.lanes.left, regions_.lanes.width()} {}

Rect Places::placed(std::size_t rank, const RowPlace& row) const {
  const float top = regions_.lanes.top + static_cast<float>(layout_.ranks[rank].y + row.y - state_.scroll);
  return {regions_.lanes.left, top, regions_.lanes.right, top + static_cast<float>(row.height)};
}

Rect Places::row(std::size_t rank, LaneRole role) const {
  const RankPlace& place = layout_.ranks[rank];
  for (std::uint32_t i = 0; i < place.row_count; ++i) {
    const RowPlace& row = layout_.rows[place.first_row + i];
    if (scene_.timeline().ranks[rank].lanes[row.lane].role == role) return placed(rank, row);
  }
  return {};
}

Point Places::point(std::size_t rank, LaneRole role, Nanoseconds time) const {
  const Rect at = row(rank, role);
  return {x(time), (at.top + at.bottom) / 2};
}

Point Places::point(const Item& item) const {
  const RankPlace& place = layout_.ranks[item.rank];
  const Row& events = scene_.timeline().ranks[item.rank].lanes[item.lane].rows[item.row];
  for (std::uint32_t i = 0; i < place.row_count; ++i) {
    const RowPlace& row = layout_.rows[place.first_row + i];
    if (row.lane != item.lane || row.row != item.row) continue;
    const Rect at = placed(item.rank, row);
    const float left = std::max(x(events.begin[item.at]), at.left);
    const float right = std::min(x(events.end[item.at]), at.right);
    return {(left + right) / 2, (at.top + at.bottom) / 2};
  }
  return {};
}

Point Places::name_of(std::size_t rank) const {
  const Rect bar = row(rank, LaneRole::causes);
  return {regions_.gutter.left + 20, (bar.top + bar.bottom) / 2};
}

Point Places::on_lanes(float across, float down) const {
  const Rect& lanes = regions_.lanes;
  return {std::floor(lanes.left + across * lanes.width()), std::floor(lanes.top + down * lanes.height())};
}

}  // namespace lockstep::viewer::journey
