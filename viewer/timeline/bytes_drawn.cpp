#include "viewer/timeline/bytes_drawn.h"

#include <algorithm>
#include <utility>

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
  const std::size_t first = first_ending_from(row.columns(), range.begin);
  const auto last = static_cast<std::size_t>(std::upper_bound(row.begin.begin(), row.begin.end(), range.end) -
                                             row.begin.begin());
  if (first >= last) return;
  const std::size_t before = first > 0 ? first - 1 : 0;  // where the sums begin
  add(stretches, row.begin, first, last + 1);            // and the next one, up to which a gap lasts
  add(stretches, row.end, first, last + 1);
  add(stretches, row.busy, before, last);
  add(stretches, row.wait, before, last);
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

void add_counter(Stretches& stretches, const CounterSeries& counter, const TimeRange& range) {
  const auto time = [](const analyzer::CounterPoint& point) { return point.time; };
  const auto [first, last] = around(counter.points, range, time, time);
  add(stretches, counter.points, first, last);
  add(stretches, counter.blocks, 0, counter.blocks.size());
}

// Rows of a rank share what their items are.
Stretches merged(Stretches stretches) {
  std::sort(stretches.begin(), stretches.end(),
            [](const auto& a, const auto& b) { return a.data() < b.data(); });
  Stretches apart;
  for (const std::span<const std::byte> bytes : stretches) {
    if (apart.empty() || bytes.data() > apart.back().data() + apart.back().size()) {
      apart.push_back(bytes);
      continue;
    }
    const std::byte* const end =
        std::max(apart.back().data() + apart.back().size(), bytes.data() + bytes.size());
    apart.back() = {apart.back().data(), end};
  }
  return apart;
}

}  // namespace

Stretches bytes_drawn(const Scene& scene, std::span<const RowOfRank> rows, const TimeRange& range) {
  Stretches stretches;
  if (rows.empty()) return stretches;
  const std::size_t rank = rows.front().rank;
  const RankTracks& tracks = scene.timeline().ranks[rank];
  const RankData& data = scene.data(rank);
  for (const RowOfRank& place : rows) {
    const TrackLane& lane = tracks.lanes[place.lane];
    if (lane.role == LaneRole::counter) add_counter(stretches, lane.counter, range);
    if (lane.role == LaneRole::causes) tracks.cause_sums.add_bytes(range.begin, range.end, stretches);
    if (place.row < lane.rows.size()) add_row(stretches, data, lane.role, lane.rows[place.row], range);
  }
  const auto [first, last] = around(
      tracks.steps, range, [](const StepSpan& step) { return step.begin; },
      [](const StepSpan& step) { return step.end; });
  add(stretches, tracks.steps, first, last);
  // Messages and what is lit.
  const std::size_t from = first_communication_from(data, range.begin);
  const std::size_t until = first_communication_from(data, range.end) + 1;
  add(stretches, data.communications, from, until);
  add(stretches, data.collective_of, from, until);
  return merged(std::move(stretches));
}

namespace {

void add_rows(const Layout& layout, std::uint32_t rank, std::vector<RowOfRank>& rows) {
  const RankPlace& place = layout.ranks[rank];
  for (std::uint32_t i = 0; i < place.row_count; ++i) {
    const RowPlace& row = layout.rows[place.first_row + i];
    rows.push_back({rank, row.lane, row.row});
  }
}

}  // namespace

std::vector<RowOfRank> rows_near(const Frame& frame) {
  std::vector<RowOfRank> rows;
  for (const bool fixed : {true, false})
    for (const std::uint32_t rank : frame.ranks_on_screen(fixed)) add_rows(frame.layout, rank, rows);
  const auto scrolling = frame.ranks_on_screen(false);
  if (scrolling.empty()) return rows;
  const std::vector<std::uint32_t>& all = frame.layout.shown;
  const auto first = static_cast<std::size_t>(scrolling.data() - all.data());
  const std::size_t last = first + scrolling.size();
  for (std::size_t i = 0; i < scrolling.size(); ++i) {
    if (last + i < all.size()) add_rows(frame.layout, all[last + i], rows);
    if (first >= frame.layout.fixed + i + 1) add_rows(frame.layout, all[first - i - 1], rows);
  }
  return rows;
}

}  // namespace lockstep::viewer
