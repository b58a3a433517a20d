// More threads than cores.
#include <array>

#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

// Four ranks whose training threads take turns on two cores.
Job shares_cores(Random& random) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    RankTrace& trace = job.rank(rank).trace();
    trace.device = "cpu";
    trace.host = "node0";
    trace.core_set = "0-1";
    trace.scheduling = {{0, 0, 0, 0, false}};
    for (int step = 0; step < 8; ++step) {
      const Nanoseconds begin = step * 1000 * us, waited = about(random, 400);
      job.rank(rank).step(step, begin, begin + 999 * us);
      job.rank(rank).compute(begin, begin + 1000 * us).launched(begin, begin);
      const SchedulingPoint before = trace.scheduling.back();
      trace.scheduling.push_back({begin + 1000 * us, before.on_cpu_ns + 1000 * us - waited,
                                  before.runnable_ns + waited, before.waited_ns + waited, true});
    }
  }
  return job.build();
}

constexpr auto kCoresSharedCases = std::to_array<KindCase>({
    {"cores_shared", shares_cores, 40},
});

}  // namespace

const Planted planted::cores_shared{.cases = kCoresSharedCases};

}  // namespace lockstep::accuracy
