// A data loader between computations.
#include <array>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/planted/pausing_job.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job loads(Random& random) {
  return pausing_job(random, {.loads = true, .launched_late = true});
}

constexpr auto kDataLoadingCases = std::to_array<KindCase>({
    {"data_loading", loads, 200},
});

}  // namespace

const Planted planted::data_loading{.cases = kDataLoadingCases};

}  // namespace lockstep::accuracy
