// Ranks wait in an operation that one of them never comes to.
#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/diagnose/hung_jobs.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job hangs(Random& random) {
  const auto missing = static_cast<std::int32_t>(random.below(4));
  std::vector<std::int32_t> stuck;
  for (std::int32_t rank = 0; rank < 4; ++rank)
    if (rank != missing) stuck.push_back(rank);
  return hung_job(stuck, 60 * kSecond, true);
}

constexpr auto kHangCases = std::to_array<KindCase>({
    {"hang", hangs, 50},
});

}  // namespace

const Planted planted::hang{.cases = kHangCases};

}  // namespace lockstep::accuracy
