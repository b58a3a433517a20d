// What the collectives of a process group carry: told by what the group is called, or by their order.
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

// The groups of a report whose collectives carry activations, which are needed at once: those of tensor
// parallelism by their name or description, and those in which all-gathers, four a step or more, and
// reduce-scatters take turns from a step's beginning on (sequence parallelism; of a mesh that is the whole
// world no name tells). Who shards parameters gathers several layers' before the first gradients are there to
// be scattered; who shards the optimizer alone gathers when all of them are.
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
  std::set<const CollectiveReport*, ByGroup> groups_;  // one operation of each; the report holds them
};

}  // namespace lockstep::analyzer
