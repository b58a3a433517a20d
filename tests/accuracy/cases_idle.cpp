#include "tests/accuracy/cases_idle.h"

#include "analyzer/model/job_builder.h"
#include "tests/accuracy/about.h"

namespace lockstep::accuracy {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

namespace {

// One rank that computes, pauses, and computes on.
struct Pause {
  bool copies = false, loads = false;
  bool first_launch_known = true, launch_known = true;
  bool launched_late = false;
  const char* device = "cuda:0";
};
Job pausing(Random& random, const Pause& what) {
  JobBuilder job;
  const Nanoseconds pause = about(random, 200);
  RankBuilder& rank = job.rank(0);
  for (int i = 0; i < 5; ++i) {
    const Nanoseconds begin = i * 1000 * us, middle = begin + 400 * us, end = begin + 1000 * us;
    rank.compute(begin, middle);
    if (what.first_launch_known) rank.launched(begin - 2, begin - 1);
    if (what.copies) rank.copy(middle, middle + pause).launched(begin, begin + 1);
    if (what.loads) rank.data_loading(middle, middle + pause);
    rank.compute(middle + pause, end);
    const Nanoseconds launch = what.launched_late ? middle + pause - us : begin;
    if (what.launch_known) rank.launched(launch, launch + us);
  }
  rank.trace().device = what.device;
  return job.build();
}

}  // namespace

Job copies(Random& random) {
  return pausing(random, {.copies = true});
}
Job loads(Random& random) {
  return pausing(random, {.loads = true, .launched_late = true});
}
Job does_not_start(Random& random) {
  return pausing(random, {});
}
Job launches_late(Random& random) {
  return pausing(random, {.launched_late = true});
}
Job idles_on_a_cpu(Random& random) {
  return pausing(random, {.launched_late = true, .device = "cpu"});
}
Job nobody_knows(Random& random) {
  return pausing(random, {.first_launch_known = false, .launch_known = false});
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

Job profiled_with_stacks(Random& random) {
  Job job = launches_late(random);
  job.warnings.push_back({"profiler_overhead", "recorded with with_stack", 0});
  return job;
}
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

}  // namespace lockstep::accuracy
