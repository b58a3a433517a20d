// The chain of waits from one item: who held it up, what held that one up, and so on to the rank that waited
// for nobody.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/timeline/timeline.h"

namespace lockstep::viewer {

class Scene;

inline constexpr std::size_t kLongestChain = 64;

struct WaitChain {
  std::vector<Item> items;   // from the one that was asked for; each was held up by the next
  std::optional<Item> root;  // what the last one's rank did while the others waited for it
  std::string why;           // what `root` is, and what the report says of that rank's lateness; "" without
  bool cut = false;          // it goes on beyond kLongestChain items
};

// `items` holds the item alone where nothing held it up. Ends where it would come to an item again.
WaitChain chain_of(const Scene& scene, const Item& item);

}  // namespace lockstep::viewer
