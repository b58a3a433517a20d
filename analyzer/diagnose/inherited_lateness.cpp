#include "analyzer/diagnose/inherited_lateness.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/intervals/time_math.h"

namespace lockstep::analyzer {
namespace {

const CollectiveRank* find(const CollectiveReport& collective, std::int32_t rank) {
  const auto found = std::find_if(collective.ranks.begin(), collective.ranks.end(),
                                  [rank](const CollectiveRank& one) { return one.rank == rank; });
  return found == collective.ranks.end() ? nullptr : &*found;
}

}  // namespace

InheritedLateness inherited_lateness(const Report& report, std::int32_t rank,
                                     const std::function<bool(const CollectiveReport&)>& counts) {
  InheritedLateness inherited;
  std::map<std::pair<std::string_view, std::vector<std::int32_t>>, const CollectiveReport*> before;
  for (const CollectiveReport& collective : report.collectives) {
    const CollectiveReport*& previous = before[{collective.group_name, collective.group_ranks}];
    const CollectiveReport* const one_before = std::exchange(previous, &collective);
    if (one_before == nullptr || collective.last_arriver != rank || !counts(collective)) continue;
    const CollectiveRank* const late = find(collective, rank);
    const CollectiveRank* const late_before = find(*one_before, rank);
    if (late == nullptr || late_before == nullptr) continue;
    bool any = false;
    for (const CollectiveRank& waiting : collective.ranks) {
      const CollectiveRank* const waiting_before = find(*one_before, waiting.rank);
      if (waiting.rank == rank || waiting.wait_ns <= 0 || waiting_before == nullptr) continue;
      const std::int64_t lateness = late->arrival_ns - waiting.arrival_ns;
      const std::int64_t ended_later = late_before->end_ns - waiting_before->end_ns;
      if (ended_later < lateness - lateness / 2) continue;
      inherited.blame_ns = saturating_add(inherited.blame_ns, waiting.wait_ns);
      any = true;
    }
    inherited.collectives += any ? 1 : 0;
  }
  return inherited;
}

}  // namespace lockstep::analyzer
