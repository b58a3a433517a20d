// Messages between two ranks: the two sides of a send and its receive.
#pragma once

#include <optional>
#include <vector>

#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

struct Message {
  std::uint32_t collective = 0;  // Scene::collectives()
  Item from, to;                 // the send and the receive
  bool directed = true;          // false: nobody recorded which side sent
};

// Nothing where the operation is no message, or a side has no record.
std::optional<Message> message_of(const Scene& scene, std::uint32_t collective);

// More than this on one screen are a tangle that says nothing.
inline constexpr std::size_t kMaxMessages = 200;

// Those of which a side is on the screen, by number; none where there are more than kMaxMessages. Their
// number is found by binary search: a view of millions costs no more than one of a few.
std::vector<Message> messages_in_view(const Frame& frame);

}  // namespace lockstep::viewer
