#include "viewer/timeline/folding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "viewer/prepared/gallop.h"

namespace lockstep::viewer {

namespace {

Nanoseconds later_by(Nanoseconds time, std::uint64_t amount) {
  constexpr Nanoseconds kMax = std::numeric_limits<Nanoseconds>::max();
  if (amount >= distance(time, kMax)) return kMax;
  return static_cast<Nanoseconds>(static_cast<std::uint64_t>(time) + amount);
}

}  // namespace

std::uint64_t threshold(const TimeAxis& axis, double pixels) {
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(axis.ns_per_pixel() * pixels)));
}

void fold(Columns columns, TimeRange visible, std::uint64_t smallest, std::vector<FoldedBox>& boxes) {
  boxes.clear();
  const auto& begin = columns.begin;
  const auto& end = columns.end;
  const std::size_t stop =
      static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), visible.end) - begin.begin());
  std::size_t at = first_ending_from(columns, visible.begin);
  std::size_t stride = 1;  // events of the last search: the next will find about as many
  while (at < stop) {
    const std::size_t first = at;
    if (distance(begin[at], end[at]) < smallest) {
      // The run reaches to the last event before a gap or an event that can be seen.
      while (true) {
        // Everything that ends before `reach` belongs to the run: neither it nor the gap before it is long
        // enough.
        const Nanoseconds reach = later_by(end[at], smallest);
        const std::size_t next = gallop(at + 1, stop, stride, [&](std::size_t i) { return end[i] < reach; });
        stride = next - at;
        at = next - 1;
        if (next == stop || distance(end[at], begin[next]) >= smallest ||
            distance(begin[next], end[next]) >= smallest) {
          break;
        }
        at = next;
      }
    }
    boxes.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(at - first + 1),
                     begin[first], end[at]});
    ++at;
  }
}

PixelPlacer::PixelPlacer(const TimeAxis& axis)
    : axis_(axis),
      lowest_(static_cast<int>(std::floor(axis.left))),
      highest_(static_cast<int>(std::ceil(axis.left + axis.width))),
      free_from_(lowest_) {}

PixelSpan PixelPlacer::place(Nanoseconds begin, Nanoseconds end) {
  const auto pixel = [this](Nanoseconds time) {
    const double x = std::floor(axis_.x(time) + 0.5);
    return static_cast<int>(std::clamp(x, static_cast<double>(lowest_), static_cast<double>(highest_)));
  };
  PixelSpan span;
  span.left = std::max(pixel(begin), free_from_);
  span.right = std::max(pixel(end), span.left + 1);
  free_from_ = span.right;
  return span;
}

double density(Columns columns, const FoldedBox& box) {
  const std::uint64_t length = distance(box.begin, box.end);
  if (length == 0 || columns.busy.empty()) return 1;
  const std::uint64_t before = box.first == 0 ? 0 : columns.busy[box.first - 1];
  const std::uint64_t busy = columns.busy[box.first + box.count - 1] - before;
  return std::min(1.0, static_cast<double>(busy) / static_cast<double>(length));
}

}  // namespace lockstep::viewer
