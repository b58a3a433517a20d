// Groups of which each file knows only its own rank in it, as NCCL's communicators: which global rank has
// which, all files together say.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/import/rank/rank_import.h"

namespace lockstep::analyzer {

class GroupMembers {
 public:
  // Precondition: the imports' ranks are settled, each there once.
  explicit GroupMembers(const std::vector<RankImport>& imports);

  // Gives the import's groups their global ranks, and the peers in them. Groups of which not all members are
  // known keep no ranks, but their size; peers that are not known become none.
  void settle(RankImport& import) const;
  // Those groups, for a warning: "nccl 0x12 (3 of 4), …"; empty if there are none.
  std::string unknown() const;

 private:
  struct Members {
    std::int32_t size = 0;
    std::map<std::int32_t, std::int32_t> global;  // by the rank within
    std::set<std::int32_t> seen;                  // global ranks
    bool contradictory = false;
    SharedRanks ranks;  // global ones, once all are known

    bool complete() const;
    std::int32_t global_rank(std::int32_t within) const;
  };

  std::map<std::string, Members> of_;
};

}  // namespace lockstep::analyzer
