#include "analyzer/match/uncertainty.h"

#include <algorithm>

#include "analyzer/model/check_job.h"

namespace lockstep::analyzer {

bool clocks_are_related(const RankTrace& a, const RankTrace& b) {
  return &a == &b || (a.clock.related && b.clock.related);
}

std::int64_t uncertainty_between(const RankTrace& a, const RankTrace& b) {
  const std::int64_t resolution = std::max(a.resolution_ns, b.resolution_ns);
  if (!clocks_are_related(a, b)) return kTimeLimit;
  if (a.host == b.host && a.clock.domain == b.clock.domain) return resolution;
  return resolution + a.clock.uncertainty_ns + b.clock.uncertainty_ns;
}

}  // namespace lockstep::analyzer
