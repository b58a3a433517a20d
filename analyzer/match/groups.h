// Inside match: the groups of a job, each once, and what a record of each rank belongs to.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/match/match.h"

namespace lockstep::analyzer {

struct GroupTable {
  std::vector<MatchGroup> groups;  // the implicit group stands last
  GroupsOfRecords of_records;
  // Records without a group can be matched over all ranks: the job is not known to have several groups.
  bool implicit_group_is_plausible = true;

  // The group of records of which nobody knows which of several they belong to.
  bool is_unknown(std::uint32_t group) const {
    return group == implicit_group() && !implicit_group_is_plausible;
  }
  std::uint32_t implicit_group() const { return of_records.implicit_group; }
  std::uint32_t group_of(std::int32_t rank, const Communication& communication) const {
    return of_records.find(rank, communication);
  }
};

// Groups whose ranks were not recorded get those ranks that have records in them. Pipelines are known by
// their description, or by what their ranks send each other; messages between the stages of one that has none
// of its own are its, whatever group they go by.
GroupTable build_groups(const Job& job);

}  // namespace lockstep::analyzer
