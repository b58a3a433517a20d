// Launches that come late, and what looks like them.
#include <array>

#include "analyzer/diagnose/test_reports.h"
#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"
#include "tests/accuracy/planted/pausing_job.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job launches_late(Random& random) {
  return pausing_job(random, {.launched_late = true});
}
Job profiled_with_stacks(Random& random) {
  Job job = launches_late(random);
  job.warnings.push_back({"profiler_overhead", "recorded with with_stack", 0});
  return job;
}
Job idles_on_a_cpu(Random& random) {
  return pausing_job(random, {.launched_late = true, .device = "cpu"});
}
Job few_launches(Random& random) {
  JobBuilder job;
  const Nanoseconds pause = about(random, 200);
  job.rank(0).compute(0, 100 * us).launched(-2, -1);
  const Nanoseconds second = 100 * us + pause, third = second + 200 * us + pause;
  job.rank(0).compute(second, second + 200 * us).launched(second - us, second);
  job.rank(0).compute(third, third + 100 * us).launched(third - us, third);
  job.rank(0).compute(third + 160 * us, third + 2000 * us);  // nobody knows when it was launched
  job.rank(0).trace().device = "cuda:0";
  return job.build();
}

constexpr auto kHostBoundCases = std::to_array<KindCase>({
    {"host_bound", launches_late, 220},
    {"host_slowed_by_profiler", profiled_with_stacks, 230},
    {"idle_between_computations", idles_on_a_cpu, 250},
    {"idle_without_launches", few_launches, 260},
});

}  // namespace

const Planted planted::host_bound{.cases = kHostBoundCases};

}  // namespace lockstep::accuracy
