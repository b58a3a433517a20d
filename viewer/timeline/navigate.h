// From one item to another: along its row, and along the chain of waits.
#pragma once

#include <optional>

#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

// The rank's part in a collective; null where it has none.
const analyzer::CollectiveRank* part_of(const Scene& scene, std::uint32_t collective, std::int32_t rank);

// The item before (−1) or after (+1) on the same row; nothing at its ends.
std::optional<Item> neighbour(const Scene& scene, const Item& item, int direction);

// Who held this up? Of a collective: the last arriver's part in it, where another rank came last. Of the last
// arriver's, or of anything else: the latest operation before it that its rank waited in, as lateness is
// handed on. Nothing where the chain ends.
std::optional<Item> held_up_by(const Scene& scene, const Item& item);

// What came of it: of the last arriver's part in a collective the part of the rank that waited longest; else
// the next operation of its rank in which others waited for it.
std::optional<Item> held_up(const Scene& scene, const Item& item);

}  // namespace lockstep::viewer
