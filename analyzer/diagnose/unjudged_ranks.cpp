#include "analyzer/diagnose/unjudged_ranks.h"

#include <algorithm>

#include "base/time_math.h"

namespace lockstep::analyzer {

bool UnjudgedRanks::had_most_of(std::int64_t waiting_ns) const {
  return waited_for_ns > 0 && waited_for_ns >= waiting_ns - waiting_ns / 2;
}

UnjudgedRanks unjudged_ranks(const Report& report) {
  UnjudgedRanks unjudged;
  if (report.lateness.ranks.empty()) return unjudged;
  for (const RankReport& rank : report.ranks)
    if (std::ranges::find(report.lateness.ranks, rank.rank, &RankLateness::rank) ==
        report.lateness.ranks.end())
      unjudged.ranks.push_back(rank.rank);
  std::ranges::sort(unjudged.ranks);
  for (const BlameReport& blame : report.blame)
    if (std::ranges::binary_search(unjudged.ranks, blame.rank))
      unjudged.waited_for_ns =
          saturating_add(unjudged.waited_for_ns, blame.exposed_ns - blame.scheduled_exposed_ns);
  return unjudged;
}

}  // namespace lockstep::analyzer
