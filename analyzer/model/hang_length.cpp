#include "analyzer/model/hang_length.h"

#include <algorithm>

namespace lockstep::analyzer {

Nanoseconds longest_operation(const RankTrace& rank, Nanoseconds before) {
  const Nanoseconds settled = rank.steps.empty() ? kUnknownTime : rank.steps.front().end;
  Nanoseconds longest = -1, longest_at_start = 0;
  for (const Communication& communication : rank.communications) {
    if (communication.activity >= rank.activities.size()) continue;
    const Activity& activity = rank.activities[communication.activity];
    if (activity.begin >= before) continue;
    Nanoseconds& of = activity.begin < settled ? longest_at_start : longest;
    of = std::max(of, activity.end - activity.begin);
  }
  return longest < 0 ? longest_at_start : longest;
}

}  // namespace lockstep::analyzer
