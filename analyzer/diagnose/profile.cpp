#include "analyzer/diagnose/profile.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace lockstep::analyzer {

Nanoseconds recording_begin(const RankTrace& rank, const RankWindows& windows) {
  std::optional<Nanoseconds> begin;
  const auto take = [&begin](Nanoseconds time) { begin = std::min(begin.value_or(time), time); };
  if (!rank.steps.empty()) take(rank.steps.front().begin);
  if (windows.has_work) take(windows.whole.begin);
  for (const Activity& activity : rank.activities)
    if (activity.launch_begin != kUnknownTime) take(activity.launch_begin);
  return begin.value_or(0);
}

std::vector<CommunicationProfile> profile_rank(const RankTimeline& timeline, Nanoseconds begin) {
  const RankTrace& rank = timeline.rank();
  const std::size_t count = rank.communications.size();
  std::vector<CommunicationProfile> profiles(count);

  // Begins come sorted; ends do not.
  std::vector<Nanoseconds> times(count);
  for (std::size_t i = 0; i < count; ++i) times[i] = rank.activities[rank.communications[i].activity].begin;
  std::vector<RankTimeline::CauseTimes> sums = timeline.causes_until(begin, times);
  for (std::size_t i = 0; i < count; ++i) profiles[i].until_begin = sums[i];

  std::vector<std::uint32_t> by_end(count);
  std::iota(by_end.begin(), by_end.end(), 0u);
  const auto end_of = [&](std::uint32_t i) { return rank.activities[rank.communications[i].activity].end; };
  std::stable_sort(by_end.begin(), by_end.end(), [&](auto a, auto b) { return end_of(a) < end_of(b); });
  for (std::size_t i = 0; i < count; ++i) times[i] = end_of(by_end[i]);
  sums = timeline.causes_until(begin, times);
  for (std::size_t i = 0; i < count; ++i) {
    CommunicationProfile& profile = profiles[by_end[i]];
    profile.until_end = sums[i];
    // Running both before and after the end.
    profile.computing_at_end =
        timeline.compute().contains(times[i]) && timeline.compute().contains(times[i] - 1);
  }
  return profiles;
}

}  // namespace lockstep::analyzer
