#include "analyzer/diagnose/garbage_collections.h"

#include <utility>
#include <vector>

#include "trace/events/operator_ranges.h"

namespace lockstep::analyzer {

IntervalSet garbage_collections(const RankTrace& rank, const StringTable& strings) {
  std::vector<Interval> collections;
  for (const HostRange& range : rank.host_ranges)
    if (strings.view(range.name) == trace::kGarbageCollection)
      collections.push_back({range.begin, range.end});
  return IntervalSet::from(std::move(collections));
}

}  // namespace lockstep::analyzer
