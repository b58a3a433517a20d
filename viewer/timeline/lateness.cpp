#include "viewer/timeline/lateness.h"

#include <algorithm>
#include <vector>

#include "analyzer/intervals/median.h"
#include "viewer/timeline/navigate.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

namespace {

using analyzer::Cause;
using analyzer::CollectiveRank;

// Each rank that is asked may cost a page of the file.
constexpr std::size_t kMaxOthers = 16;
// An operation that the ranks left together is near, or it tells nothing.
constexpr std::size_t kMaxLookedAt = 4096;
constexpr std::int64_t kExplains = 4;  // at least this part of the longest wait

// The latest operation of the group that ended before `arrival` with nothing to compute: one under which
// compute runs on holds nobody up, and the ranks do not leave it together.
std::optional<std::uint32_t> left_together(const Scene& scene, std::uint32_t rank, Nanoseconds arrival,
                                           std::uint32_t collective) {
  const RankData& data = scene.data(rank);
  const CauseSums& causes = scene.timeline().ranks[rank].cause_sums;
  const std::uint32_t group = scene.collectives()[collective].group_name;
  std::size_t i = first_communication_from(data, arrival);
  for (const std::size_t last = i - std::min(i, kMaxLookedAt); i-- > last;) {
    const std::uint32_t activity = data.communications[i].activity;
    if (activity >= data.activities.size() || data.activities[activity].end > arrival) continue;
    const auto earlier = scene.collective_of(rank, activity);
    if (!earlier || *earlier == collective || scene.collectives()[*earlier].group_name != group) continue;
    const Nanoseconds end = data.activities[activity].end;
    if (causes.within(end - 1, end)[static_cast<std::size_t>(Cause::compute)] == 0) return earlier;
  }
  return std::nullopt;
}

// From leaving one operation until coming to the next; nothing where the rank was not in both.
std::optional<TimeRange> between(const Scene& scene, std::uint32_t from, std::uint32_t to,
                                 std::int32_t rank) {
  const CollectiveRank* const left = part_of(scene, from, rank);
  const CollectiveRank* const came = part_of(scene, to, rank);
  const auto index = scene.index_of(rank);
  if (left == nullptr || came == nullptr || !index) return std::nullopt;
  const std::span<const analyzer::Activity> activities = scene.data(*index).activities;
  if (left->activity >= activities.size() || came->activity >= activities.size()) return std::nullopt;
  // A rank may start the next operation before this one ends.
  const Nanoseconds begin = activities[left->activity].end;
  return TimeRange{begin, std::max(begin, activities[came->activity].begin)};
}

CauseTimes times_of(const Scene& scene, std::int32_t rank, TimeRange range) {
  return scene.timeline().ranks[*scene.index_of(rank)].cause_sums.within(range.begin, range.end);
}

}  // namespace

std::optional<Lateness> lateness_of(const Scene& scene, const Item& last, std::uint32_t collective) {
  const TrackLane& lane = scene.timeline().ranks[last.rank].lanes[last.lane];
  const Nanoseconds arrival = lane.rows[last.row].begin[last.at];
  const auto since = left_together(scene, last.rank, arrival, collective);
  if (!since) return std::nullopt;
  const std::int32_t late = scene.timeline().ranks[last.rank].rank;
  const auto own_range = between(scene, *since, collective, late);
  if (!own_range) return std::nullopt;
  const std::span<const CollectiveRank> parts = scene.parts(collective);
  const std::size_t stride = std::max<std::size_t>(1, parts.size() / kMaxOthers);
  std::int64_t longest = 0;
  for (const CollectiveRank& part : parts) longest = std::max(longest, part.wait_ns);
  std::vector<CauseTimes> others;
  for (std::size_t i = 0; i < parts.size(); i += stride)
    if (const auto range = between(scene, *since, collective, parts[i].rank); range && parts[i].rank != late)
      others.push_back(times_of(scene, parts[i].rank, *range));
  if (others.empty()) return std::nullopt;
  const CauseTimes own = times_of(scene, late, *own_range);
  std::optional<Lateness> lateness;
  std::int64_t most = longest / kExplains;
  for (std::size_t cause = 0; cause < own.size(); ++cause) {
    std::vector<std::int64_t> values;
    values.reserve(others.size());
    for (const CauseTimes& times : others) values.push_back(static_cast<std::int64_t>(times[cause]));
    const std::int64_t excess =
        static_cast<std::int64_t>(own[cause]) - analyzer::lower_median(std::move(values));
    if (excess <= most) continue;
    most = excess;
    lateness = Lateness{static_cast<Cause>(cause), *own_range};
  }
  return lateness;
}

}  // namespace lockstep::viewer
