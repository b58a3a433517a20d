#include "analyzer/import/rank/launches.h"

#include <algorithm>
#include <tuple>

namespace lockstep::analyzer {

void LaunchTable::close() {
  const auto before = [](const Launch& a, const Launch& b) {
    return std::tie(a.correlation, a.begin, b.end) < std::tie(b.correlation, b.begin, a.end);
  };
  if (!std::is_sorted(launches_.begin(), launches_.end(), before))
    std::sort(launches_.begin(), launches_.end(), before);
}

const Launch* LaunchTable::find(std::int64_t correlation) {
  const auto less = [](const Launch& launch, std::int64_t id) { return launch.correlation < id; };
  // Activities come nearly in the order of their launches: look a few places ahead before searching.
  std::size_t at = hint_;
  constexpr std::size_t kAhead = 8;
  if (at >= launches_.size() || launches_[at].correlation > correlation ||
      launches_[std::min(at + kAhead, launches_.size() - 1)].correlation < correlation) {
    at = static_cast<std::size_t>(std::lower_bound(launches_.begin(), launches_.end(), correlation, less) -
                                  launches_.begin());
  } else {
    while (at < launches_.size() && launches_[at].correlation < correlation) ++at;
    while (at > 0 && launches_[at - 1].correlation == correlation) --at;
  }
  if (at >= launches_.size() || launches_[at].correlation != correlation) return nullptr;
  hint_ = at;
  return &launches_[at];
}

void RangeTable::close() {
  std::stable_sort(ranges_.begin(), ranges_.end(),
                   [](const CommunicationRange& a, const CommunicationRange& b) {
                     return std::tie(a.thread, a.begin, b.end) < std::tie(b.thread, b.begin, a.end);
                   });
}

Operation RangeTable::operation_at(std::uint32_t thread, Nanoseconds time) const {
  auto at =
      std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(thread, time),
                       [](const std::pair<std::uint32_t, Nanoseconds>& key, const CommunicationRange& range) {
                         return key < std::pair(range.thread, range.begin);
                       });
  // Such ranges nest two or three deep; the limit keeps malformed files from costing quadratic time.
  for (int steps = 0; at != ranges_.begin() && steps < 64; ++steps) {
    --at;
    if (at->thread != thread) break;
    if (at->end >= time && at->operation != Operation::unknown) return at->operation;
  }
  return Operation::unknown;
}

}  // namespace lockstep::analyzer
