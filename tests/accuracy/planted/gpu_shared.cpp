// Two ranks that compute on one GPU.
#include <array>
#include <cstdint>

#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

// They compute in turn, though all was launched before, and reduce then.
Job take_turns(Random& random) {
  JobBuilder job;
  Nanoseconds now = 0;
  for (int turn = 0; turn < 20; ++turn) {
    RankBuilder& rank = job.rank(static_cast<std::int32_t>(turn % 2));
    rank.trace().host = "node0";
    rank.trace().device_uuid = "GPU-a";
    const Nanoseconds end = now + about(random, 100);
    rank.compute(now, end).launched(-10 * us, -9 * us);
    now = end;
  }
  const Nanoseconds reduced = now + about(random, 200);
  for (std::int32_t rank = 0; rank < 2; ++rank)
    job.rank(rank).all_reduce(now, reduced).launched(-9 * us, -8 * us);
  return job.build();
}

constexpr auto kGpuSharedCases = std::to_array<KindCase>({
    {"gpu_shared", take_turns},
});

}  // namespace

const Planted planted::gpu_shared{.cases = kGpuSharedCases};

}  // namespace lockstep::accuracy
