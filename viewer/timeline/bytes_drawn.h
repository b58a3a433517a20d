// Which bytes of a prepared run a frame draws from, by row and time: what has to be in memory for it not to
// wait for the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

// A row of a rank's lane.
struct RowOfRank {
  std::uint32_t rank = 0;  // index into Timeline::ranks
  std::uint32_t lane = 0;
  std::uint32_t row = 0;
  bool operator==(const RowOfRank&) const = default;
};

// The rows of the ranks on the screen from the top, then of those that a page of scrolling would bring: the
// nearest first, below and above in turn. What is closed is left out.
std::vector<RowOfRank> rows_near(const Frame& frame);

// What rows of one rank are drawn from where they intersect `range`; not what else is read to find that.
// Sorted, disjoint, and not empty.
std::vector<std::span<const std::byte>> bytes_drawn(const Scene& scene, std::span<const RowOfRank> rows,
                                                    const TimeRange& range);

}  // namespace lockstep::viewer
