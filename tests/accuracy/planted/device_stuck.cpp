// A rank that ends none of the operations that the others ended.
#include <array>
#include <cstddef>
#include <cstdint>

#include "analyzer/diagnose/hung_jobs.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job stuck_device(Random& random) {
  const std::size_t stuck = random.below(4);
  Job job = hung_job({static_cast<std::int32_t>(stuck)}, 60 * kSecond, true);
  for (RankTrace& rank : job.ranks) {
    rank.device = "cuda:0";
    if (rank.ending.operations.empty()) rank.ending.progress = {{0, 4, 4}};
  }
  Ending& ending = job.ranks[stuck].ending;
  ending.operations.push_back(ending.operations.front());
  ending.operations.back().sequence = 4;
  return job;
}

constexpr auto kDeviceStuckCases = std::to_array<KindCase>({
    {"device_stuck", stuck_device, 60},
});

}  // namespace

const Planted planted::device_stuck{.cases = kDeviceStuckCases};

}  // namespace lockstep::accuracy
