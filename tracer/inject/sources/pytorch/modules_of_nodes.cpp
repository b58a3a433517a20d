#include "tracer/inject/sources/pytorch/modules_of_nodes.h"

#include <algorithm>

namespace lockstep::tracer::pytorch {

void ModulesOfNodes::begin(trace::StringId module, std::uint64_t next_node) {
  open_.push_back(module);
  change_at(next_node);
}

void ModulesOfNodes::end(std::uint64_t next_node) {
  if (!open_.empty()) open_.pop_back();
  change_at(next_node);
}

void ModulesOfNodes::change_at(std::uint64_t next_node) {
  if (!changes_.empty() && changes_.back().node > next_node) changes_.clear();  // another count began
  if (changes_.size() >= kMost)
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(kMost / 2));
  if (changes_.empty() || changes_.back().node != next_node) changes_.push_back({next_node, 0, false});
  changes_.back().any = !open_.empty();
  changes_.back().module = open_.empty() ? 0 : open_.back();
}

std::optional<trace::StringId> ModulesOfNodes::module_of(std::uint64_t node) const {
  const auto after = std::upper_bound(changes_.begin(), changes_.end(), node,
                                      [](std::uint64_t n, const Change& change) { return n < change.node; });
  if (after == changes_.begin()) return std::nullopt;
  const Change& change = *std::prev(after);
  return change.any ? std::optional(change.module) : std::nullopt;
}

}  // namespace lockstep::tracer::pytorch
