// Too little is recorded to say who is late again and again.
#include <array>

#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

// One step, in which rank 1 is late: too little to say that it is so again and again.
Job one_step(Random& random) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const Nanoseconds late = rank == 1 ? about(random, 300) : 0;
    job.rank(rank).step(0, 0, 900 * us);
    job.rank(rank).compute(0, 500 * us + late).launched(0, 1);
    job.rank(rank).all_reduce(500 * us + late, 890 * us).launched(0, 2);
  }
  return job.build();
}

constexpr auto kImbalanceCases = std::to_array<KindCase>({
    {"imbalance", one_step, 10},
});

}  // namespace

const Planted planted::imbalance{.cases = kImbalanceCases};

}  // namespace lockstep::accuracy
