// Which module made a node of autograd? The forward pass numbers nodes as it makes them, so that a module's
// call is a range of numbers; its backward pass is that of these nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/events/event.h"

namespace lockstep::tracer::pytorch {

// Of one forward thread.
class ModulesOfNodes {
 public:
  void begin(trace::StringId module, std::uint64_t next_node);
  void end(std::uint64_t next_node);
  // The innermost module under whose call the node was made; absent where there was none, or it is too long
  // ago.
  std::optional<trace::StringId> module_of(std::uint64_t node) const;

 private:
  static constexpr std::size_t kMost = 1U << 17U;  // changes that are remembered: many steps

  struct Change {
    std::uint64_t node = 0;  // the first
    trace::StringId module = 0;
    bool any = false;
  };
  void change_at(std::uint64_t next_node);

  std::vector<trace::StringId> open_;
  std::vector<Change> changes_;  // by node
};

}  // namespace lockstep::tracer::pytorch
