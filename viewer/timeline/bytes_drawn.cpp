#include "viewer/timeline/bytes_drawn.h"

#include <algorithm>
#include <cmath>

namespace lockstep::viewer {

namespace {

using Stretches = std::vector<std::span<const std::byte>>;

// Elements [first, last) of what is there.
template <class T>
void add(Stretches& stretches, std::span<const T> values, std::size_t first, std::size_t last) {
  last = std::min(last, values.size());
  if (first < last) stretches.push_back(std::as_bytes(values.subspan(first, last - first)));
}

// Of elements sorted by time, those of the range and one on either side.
template <class T, class Begin, class End>
std::pair<std::size_t, std::size_t> around(std::span<const T> values, const TimeRange& range,
                                           const Begin& begin, const End& end) {
  const auto first = std::partition_point(values.begin(), values.end(),
                                          [&](const T& value) { return end(value) < range.begin; });
  const auto last =
      std::partition_point(first, values.end(), [&](const T& value) { return begin(value) <= range.end; });
  const auto from = static_cast<std::size_t>(first - values.begin());
  return {from > 0 ? from - 1 : 0, static_cast<std::size_t>(last - values.begin()) + 1};
}

void add_row(Stretches& stretches, const RankData& data, LaneRole role, const Row& row,
             const TimeRange& range) {
  const auto [first, last] = [&] {
    const std::size_t from = first_ending_from(row.columns(), range.begin);
    const std::size_t until = static_cast<std::size_t>(
        std::upper_bound(row.begin.begin(), row.begin.end(), range.end) - row.begin.begin());
    // Sums stand one before the first.
    return std::pair(from > 0 ? from - 1 : 0, std::min(until + 1, row.size()));
  }();
  if (first >= last) return;
  add(stretches, row.begin, first, last);
  add(stretches, row.end, first, last);
  add(stretches, row.busy, first, last);
  add(stretches, row.wait, first, last);
  add(stretches, row.item, first, last);
  if (role == LaneRole::causes || row.item.empty()) return;
  // What the items are lies in order of time too, but for what runs at once.
  const auto [low, high] = std::minmax(row.item[first], row.item[last - 1]);
  if (role == LaneRole::host) {
    add(stretches, data.host_ranges, low, std::size_t{high} + 1);
  } else {
    add(stretches, data.activities, low, std::size_t{high} + 1);
  }
}

}  // namespace

Stretches bytes_drawn(const Scene& scene, std::size_t rank, const TimeRange& range) {
  Stretches stretches;
  const RankTracks& tracks = scene.timeline().ranks[rank];
  const RankData& data = scene.data(rank);
  tracks.cause_sums.add_bytes(range.begin, range.end, stretches);
  for (const TrackLane& lane : tracks.lanes) {
    for (const Row& row : lane.rows) add_row(stretches, data, lane.role, row, range);
    const auto time = [](const analyzer::CounterPoint& point) { return point.time; };
    const auto [first, last] = around(lane.counter.points, range, time, time);
    add(stretches, lane.counter.points, first, last);
    add(stretches, lane.counter.blocks, 0, lane.counter.blocks.size());
  }
  const auto [first, last] = around(
      tracks.steps, range, [](const StepSpan& step) { return step.begin; },
      [](const StepSpan& step) { return step.end; });
  add(stretches, tracks.steps, first, last);
  const std::size_t from = first_communication_from(data, range.begin);
  const std::size_t until = first_communication_from(data, range.end) + 1;
  add(stretches, data.communications, from, until);
  add(stretches, data.collective_of, from, until);
  return stretches;
}

std::vector<std::uint32_t> ranks_near(const Frame& frame) {
  std::vector<std::uint32_t> ranks;
  for (const bool fixed : {true, false}) {
    const auto shown = frame.ranks_on_screen(fixed);
    ranks.insert(ranks.end(), shown.begin(), shown.end());
  }
  const auto scrolling = frame.ranks_on_screen(false);
  if (scrolling.empty()) return ranks;
  const std::vector<std::uint32_t>& all = frame.layout.shown;
  const auto first = static_cast<std::size_t>(scrolling.data() - all.data());
  const std::size_t last = first + scrolling.size();
  for (std::size_t i = 0; i < scrolling.size(); ++i) {
    if (last + i < all.size()) ranks.push_back(all[last + i]);
    if (first >= frame.layout.fixed + i + 1) ranks.push_back(all[first - i - 1]);
  }
  return ranks;
}

}  // namespace lockstep::viewer
