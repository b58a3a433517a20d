// What a run does beside training.
#include <array>
#include <cstdint>
#include <string>

#include "analyzer/model/job_builder.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

constexpr Nanoseconds kMillisecond = 1'000'000;
constexpr std::int32_t kRanks = 4;
constexpr int kSteps = 40;

struct Beside {
  std::string name;
  Nanoseconds ns = 0;
  std::int32_t rank = -1;  // that alone; -1: all
  int every = 8;           // in steps 7, 15, …; 0: in none, but before the first
};

// 40 steps of about 50 ms on four ranks, computation and then an all-reduce that nothing hides for 1 ms;
// beside it, in some steps, something else, for which all wait.
Job job_with(Random& random, const Beside& beside) {
  JobBuilder job;
  Nanoseconds now = 0;
  if (beside.every == 0) {
    for (std::int32_t rank = 0; rank < kRanks; ++rank) job.rank(rank).host_range(0, beside.ns, beside.name);
    now = beside.ns;
  }
  for (int step = 0; step < kSteps; ++step) {
    const bool here = beside.every > 0 && step % beside.every == beside.every - 1;
    const Nanoseconds extra = here ? beside.ns : 0;
    const auto length = static_cast<Nanoseconds>(random.uniform(49.5, 50.5) * kMillisecond);
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      RankBuilder& on = job.rank(rank);
      const bool does = here && (beside.rank < 0 || beside.rank == rank);
      const Nanoseconds begin = now + (does ? extra : 0);
      const auto ready =
          begin + length - kMillisecond - static_cast<Nanoseconds>(random.uniform(0, 0.4) * kMillisecond);
      on.step(step, now, now + extra + length);
      if (does) on.host_range(now + 10'000, begin, beside.name);
      on.compute(now, now + 10'000).launched(now + 1, now + 2);
      on.compute(begin + 10'000, ready).launched(now + 3, now + 4);
      on.all_reduce(ready, now + extra + length).launched(now + 5, now + 6);
    }
    now += extra + length;
  }
  return job.build();
}

Nanoseconds around(Random& random, Nanoseconds typical) {
  return static_cast<Nanoseconds>(static_cast<double>(typical) * random.uniform(0.8, 1.2));
}

Job saves_checkpoints(Random& random) {
  return job_with(random, {"checkpoint: torch.save", around(random, 30 * kMillisecond), 0});
}
Job evaluates(Random& random) {
  return job_with(random, {"evaluation", around(random, 100 * kMillisecond)});
}
Job compiles_anew(Random& random) {
  return job_with(random, {"compilation", around(random, 80 * kMillisecond), 1});
}
Job compiles_long(Random& random) {
  return job_with(random, {"compilation", around(random, 100'000 * kMillisecond), -1, 0});
}

constexpr auto kOutsideTrainingCases = std::to_array<KindCase>({
    {"checkpoints_block", saves_checkpoints, 390},
    {"evaluation_long", evaluates, 400},
    {"recompilation", compiles_anew, 410},
    {"compilation_long", compiles_long, 430},
});

}  // namespace

const Planted planted::outside_training{.cases = kOutsideTrainingCases};

}  // namespace lockstep::accuracy
