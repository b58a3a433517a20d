// Process groups as Kineto gives them: with every kernel its group's name, description and ranks, the list
// cut after 30; and in `distributedInfo.pg_config` the groups of the process, mostly whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/import/kineto/event_fields.h"
#include "analyzer/import/rank/rank_list.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer::kineto {

class GroupTable {
 public:
  // The group that a kernel's arguments name; kNone if they name none.
  std::uint32_t find(const DeviceArguments& arguments);
  void declare(std::string name, RankList ranks);  // from pg_config

  // Completes cut lists, when the whole file was read. Index i answers for find()'s i.
  struct Resolved {
    JobGroup group;                         // ranks sorted, empty where not known
    std::vector<std::int32_t> group_order;  // group rank -> global rank
  };
  std::vector<Resolved> resolve(std::int32_t world_size) const;

 private:
  struct Seen {
    std::string name, description;
    RankList ranks;
    std::int64_t size = 0;
  };
  std::vector<Seen> seen_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::unordered_map<std::string, RankList> declared_;
  std::string key_;  // kept to save allocations
};

}  // namespace lockstep::analyzer::kineto
