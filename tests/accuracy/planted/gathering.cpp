// Parameters that are gathered late, too late, when memory is free, and needlessly.
#include <array>

#include "analyzer/diagnose/sharded_jobs.h"
#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job no_prefetch(Random& random) {
  return sharded_job({.gather_us = between(random, 80, 120)}).build();
}
Job shallow_prefetch(Random& random) {
  return sharded_job({.ahead_us = between(random, 45, 55)}).build();
}
Job throttled(Random& random) {
  return sharded_job({.gather_us = between(random, 140, 160), .after_us = 2, .halves = true}).build();
}
Job needless_sharding(Random& random) {
  return sharded_job({.gather_us = between(random, 80, 120), .bytes = 10 << 20}).build();
}

constexpr auto kGatheringCases = std::to_array<KindCase>({
    {"prefetch_off", no_prefetch, 140},
    {"prefetch_shallow", shallow_prefetch, 150},
    {"all_gathers_throttled", throttled, 160},
    {"sharding_not_needed", needless_sharding, 170},
});

}  // namespace

const Planted planted::gathering{.cases = kGatheringCases};

}  // namespace lockstep::accuracy
