// Which bytes of a prepared run a frame reads, by rank and time: what has to be in memory for it not to wait
// for the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

// Of one rank, for everything that intersects `range`. Looks them up in the columns, so that it reads a few
// pages of them itself. No stretch is empty.
std::vector<std::span<const std::byte>> bytes_drawn(const Scene& scene, std::size_t rank,
                                                    const TimeRange& range);

// The ranks on the screen from the top, then those that a page of scrolling would bring: the nearest first,
// below and above in turn.
std::vector<std::uint32_t> ranks_near(const Frame& frame);

}  // namespace lockstep::viewer
