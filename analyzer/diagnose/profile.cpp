#include "analyzer/diagnose/profile.h"

#include <algorithm>
#include <numeric>

namespace lockstep::analyzer {

Nanoseconds recording_begin(const RankTrace& rank, const RankWindows& windows) {
  if (rank.steps.empty()) return windows.has_work ? windows.whole.begin : 0;
  const Nanoseconds step = rank.steps.front().begin;
  return windows.has_work ? std::min(step, windows.whole.begin) : step;
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
