// Idle time of which no launch is known.
#include <array>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/planted/pausing_job.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job nobody_knows(Random& random) {
  return pausing_job(random, {.first_launch_known = false, .launch_known = false});
}

constexpr auto kUnexplainedIdleCases = std::to_array<KindCase>({
    {"unexplained_idle", nobody_knows, 270},
});

}  // namespace

const Planted planted::unexplained_idle{.cases = kUnexplainedIdleCases};

}  // namespace lockstep::accuracy
