// Threads that sleep inside their computations.
#include <array>

#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

// A rank whose threads sleep inside its computations, as a range that was cut is read.
Job sleeps_in_compute(Random& random) {
  JobBuilder job;
  for (int step = 0; step < 8; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds awake = begin + 400 * us + (rank == 1 ? about(random, 150) : 0);
      job.rank(rank).step(step, begin, begin + 999 * us);
      job.rank(rank).compute(begin, begin + 400 * us).launched(begin, begin);
      job.rank(rank).compute(awake, begin + 1000 * us).launched(awake, awake);
      RankTrace& trace = job.rank(rank).trace();
      trace.device = "cpu";
      trace.off_cpu_known = true;
      if (awake > begin + 400 * us) trace.off_cpu.push_back({begin + 400 * us, awake});
    }
  }
  return job.build();
}

constexpr auto kBlockedInComputeCases = std::to_array<KindCase>({
    {"blocked_in_compute", sleeps_in_compute, 30},
});

}  // namespace

const Planted planted::blocked_in_compute{.cases = kBlockedInComputeCases};

}  // namespace lockstep::accuracy
