#include "analyzer/match/uncertainty.h"

#include <algorithm>

namespace lockstep::analyzer {

std::int64_t uncertainty_between(const RankTrace& a, const RankTrace& b) {
  const std::int64_t resolution = std::max(a.resolution_ns, b.resolution_ns);
  if (a.host == b.host) return resolution;
  return resolution + a.clock.uncertainty_ns + b.clock.uncertainty_ns;
}

}  // namespace lockstep::analyzer
