// What each rank of a job has ended.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

class EndedOperations {
 public:
  // O(communications · log of them).
  explicit EndedOperations(const Job& job);
  bool has(std::int32_t rank, std::uint32_t group, std::int64_t sequence) const;

 private:
  struct Of {
    std::map<std::uint32_t, std::int64_t> until;  // by group: all numbers up to this one
    std::set<std::pair<std::uint32_t, std::int64_t>> operations;
  };
  std::map<std::int32_t, Of> of_;
};

}  // namespace lockstep::analyzer
