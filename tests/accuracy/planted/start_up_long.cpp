// A run of which much is start-up.
#include <array>
#include <cstdint>

#include "analyzer/model/job_builder.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

constexpr Nanoseconds kMillisecond = 1'000'000;
constexpr std::int32_t kRanks = 4;
constexpr int kSteps = 40;

// Before 40 steps of about 50 ms on four ranks.
Job starts_long(Random& random) {
  JobBuilder job;
  Nanoseconds now = static_cast<Nanoseconds>(random.uniform(80'000, 120'000) * kMillisecond);
  for (std::int32_t rank = 0; rank < kRanks; ++rank) job.rank(rank).host_range(0, now, "start-up: imports");
  for (int step = 0; step < kSteps; ++step) {
    const auto length = static_cast<Nanoseconds>(random.uniform(49.5, 50.5) * kMillisecond);
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      const auto ready =
          now + length - kMillisecond - static_cast<Nanoseconds>(random.uniform(0, 0.4) * kMillisecond);
      RankBuilder& on = job.rank(rank);
      on.step(step, now, now + length);
      on.compute(now, ready).launched(now + 3, now + 4);
      on.all_reduce(ready, now + length).launched(now + 5, now + 6);
    }
    now += length;
  }
  return job.build();
}

constexpr auto kStartUpLongCases = std::to_array<KindCase>({{"start_up_long", starts_long, 420}});

}  // namespace

const Planted planted::start_up_long{.cases = kStartUpLongCases};

}  // namespace lockstep::accuracy
