#include "analyzer/metrics/covered_intervals.h"

#include <algorithm>

#include "base/time_math.h"

namespace lockstep::analyzer {

CoveredIntervals::Union CoveredIntervals::unite() && {
  std::sort(intervals_.begin(), intervals_.end(),
            [](const One& a, const One& b) { return a.interval.begin < b.interval.begin; });
  Union sum;
  for (std::size_t i = 0; i < intervals_.size();) {
    // All that hangs together begins where one of them does and ends where one does.
    One all = intervals_[i];
    for (++i; i < intervals_.size() && intervals_[i].interval.begin <= all.interval.end; ++i) {
      if (intervals_[i].interval.end <= all.interval.end) continue;
      all.interval.end = intervals_[i].interval.end;
      all.before_end_ns = intervals_[i].before_end_ns;
    }
    sum.ns = saturating_add(sum.ns, saturating_length(all.interval.begin, all.interval.end));
    sum.covered_ns = saturating_add(sum.covered_ns, all.before_end_ns - all.before_begin_ns);
  }
  return sum;
}

}  // namespace lockstep::analyzer
