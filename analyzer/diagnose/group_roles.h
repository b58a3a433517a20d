// What the collectives of a process group carry: told by what the group is called, or by when it scatters.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Whether words in a group's name or description say that it is one of tensor (or sequence) parallelism.
bool is_tensor_parallel(const std::string& name, const std::string& description);
// The description of a report's group; empty where it has none.
std::string description_of(const Job& job, const std::string& name, const std::vector<std::int32_t>& ranks);

// The collectives of a report that carry activations, which are needed at once: those of groups of tensor
// parallelism by name or description, and all-gathers and reduce-scatters of a group that scatters in the
// forward passes of most steps (sequence parallelism; of a mesh that is the whole world no name tells).
// Gradients are there to be scattered in backward passes alone. Where no backward pass is known, the name
// alone tells. O(activities and host ranges of one rank of each group that scatters + collectives).
class ActivationGroups {
 public:
  ActivationGroups(const Job& job, const Report& report);
  bool has(const CollectiveReport& collective) const;

 private:
  struct ByGroup {
    bool operator()(const CollectiveReport* a, const CollectiveReport* b) const {
      return std::tie(a->group_name, a->group_ranks) < std::tie(b->group_name, b->group_ranks);
    }
  };
  std::set<const CollectiveReport*, ByGroup> named_, in_forward_;  // one of each group; the report holds them
};

}  // namespace lockstep::analyzer
