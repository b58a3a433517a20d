// Work that was launched, and does not start.
#include <array>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/planted/pausing_job.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job does_not_start(Random& random) {
  return pausing_job(random, {});
}

constexpr auto kQueuedCases = std::to_array<KindCase>({
    {"queued", does_not_start, 210},
});

}  // namespace

const Planted planted::queued{.cases = kQueuedCases};

}  // namespace lockstep::accuracy
