#include "viewer/timeline/prevailing_class.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "viewer/prepared/gallop.h"

namespace lockstep::viewer {

using analyzer::Class;

std::optional<std::size_t> PrevailingClass::running_at(Nanoseconds time) {
  const std::size_t end = std::size_t{box_.first} + box_.count;
  const std::size_t next = gallop(at_, end, stride_, [&](std::size_t i) { return row_.begin[i] <= time; });
  if (next == box_.first) return std::nullopt;
  stride_ = next - at_;
  at_ = next - 1;
  return row_.end[at_] > time || row_.begin[at_] == time ? std::optional(at_) : std::nullopt;
}

std::optional<Class> PrevailingClass::within(Nanoseconds begin, Nanoseconds end, int samples) {
  constexpr std::size_t kClasses = static_cast<std::size_t>(Class::unclassified) + 1;
  std::array<int, kClasses> hits{};
  const auto length = static_cast<double>(begin < end ? distance(begin, end) : 0);
  for (int i = 0; i < samples; ++i) {
    const auto running = running_at(saturating_add(begin, length * (i + 0.5) / samples));
    if (!running) continue;
    const auto activity_class = static_cast<std::size_t>(activities_[row_.item[*running]].activity_class);
    ++hits[std::min(activity_class, kClasses - 1)];
  }
  int& sync = hits[static_cast<std::size_t>(Class::sync)];
  if (sync > 0 && sync == std::accumulate(hits.begin(), hits.end(), 0)) return Class::sync;
  sync = 0;
  const auto most = std::max_element(hits.begin(), hits.end());
  if (*most == 0) return std::nullopt;
  return static_cast<Class>(most - hits.begin());
}

}  // namespace lockstep::viewer
