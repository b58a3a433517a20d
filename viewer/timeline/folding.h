// Folding: what of a row is worth drawing on the pixels that there are.
//
//   fold(row.columns(), axis.visible(), threshold(axis), boxes);
//
// Events at least `smallest` ns long are drawn as they are. Runs of shorter ones, with gaps shorter than that
// between them, become one box. Each box costs a few binary searches and covers at least `smallest` ns
// together with the gap behind it, so that the cost follows the pixels of the row, not its events: O(pixels ·
// log events). The idea is Tracy's.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/prepared/columns.h"
#include "viewer/timeline/time_axis.h"

namespace lockstep::viewer {

// Events [first, first + count) of the row, from the first one's begin to the last one's end. One event is
// drawn as itself.
struct FoldedBox {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  bool folded() const { return count > 1; }
};

// Boxes narrower than this many pixels are folded with their neighbours.
inline constexpr double kFoldPixels = 3;
// The same in ns for an axis; at least 1.
std::uint64_t threshold(const TimeAxis& axis, double pixels = kFoldPixels);

// Replaces `boxes` by those that intersect `visible`: sorted, disjoint, each event that intersects it in
// exactly one.
void fold(Columns columns, TimeRange visible, std::uint64_t smallest, std::vector<FoldedBox>& boxes);

// Whole pixels [left, right) of a box.
struct PixelSpan {
  int left = 0;
  int right = 0;
  int width() const { return right - left; }
};

// Places boxes one after the other: whole pixels, at least one each, none over another, cut to the axis.
class PixelPlacer {
 public:
  explicit PixelPlacer(const TimeAxis& axis);
  PixelSpan place(Nanoseconds begin, Nanoseconds end);

 private:
  const TimeAxis& axis_;
  int lowest_;
  int highest_;
  int free_from_;
};

// Share of a box's length in which its events run, 0 to 1; 1 for a box without length.
double density(Columns columns, const FoldedBox& box);

}  // namespace lockstep::viewer
