#include "analyzer/diagnose/ended_operations.h"

#include <algorithm>

namespace lockstep::analyzer {

EndedOperations::EndedOperations(const Job& job) {
  for (const RankTrace& rank : job.ranks) {
    Of& of = of_[rank.rank];
    for (const Communication& c : rank.communications)
      if (c.group != kNone && c.sequence != kNoSequence) of.operations.insert({c.group, c.sequence});
    for (const GroupProgress& progress : rank.ending.progress) {
      if (progress.group == kNone) continue;
      const auto [where, fresh] = of.until.try_emplace(progress.group, progress.ended);
      where->second = std::max(where->second, progress.ended);
    }
  }
}

bool EndedOperations::has(std::int32_t rank, std::uint32_t group, std::int64_t sequence) const {
  const auto of = of_.find(rank);
  if (of == of_.end()) return false;
  const auto until = of->second.until.find(group);
  if (until != of->second.until.end() && until->second >= sequence) return true;
  return of->second.operations.contains({group, sequence});
}

}  // namespace lockstep::analyzer
