// Communication by kernels of a library that nobody knows.
#include <array>
#include <cstdint>

#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

// Ranks compute for different times, and then spin in a kernel of no known library until the last has come.
Job spins(Random& random) {
  JobBuilder job;
  for (int step = 0; step < 10; ++step) {
    const Nanoseconds begin = step * 2000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds arrives = begin + 500 * us + ((rank + step) % 2) * about(random, 400);
      job.rank(rank).compute(begin, arrives, "gemm").launched(begin, begin + 1);
      job.rank(rank).compute(arrives, begin + 1100 * us + rank, "ring").launched(begin + 2, begin + 3);
    }
  }
  return job.build();
}

constexpr auto kCommunicationUnrecognisedCases = std::to_array<KindCase>({
    {"communication_unrecognised", spins, 240},
});

}  // namespace

const Planted planted::communication_unrecognised{.cases = kCommunicationUnrecognisedCases};

}  // namespace lockstep::accuracy
