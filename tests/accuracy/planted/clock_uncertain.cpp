// Who was late is within the error of two hosts' clocks.
#include <array>
#include <cstdint>

#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job uncertain_clocks(Random& random) {
  JobBuilder job;
  const Nanoseconds late = about(random, 50);
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 10 * us).all_reduce(100 * us + rank * late, 200 * us);
    job.rank(rank).trace().host = rank == 0 ? "a" : "b";
    job.rank(rank).trace().clock.uncertainty_ns = 100 * us;
  }
  return job.build();
}

constexpr auto kClockUncertainCases = std::to_array<KindCase>({
    {"clock_uncertain", uncertain_clocks, 310},
});

}  // namespace

const Planted planted::clock_uncertain{.cases = kClockUncertainCases};

}  // namespace lockstep::accuracy
