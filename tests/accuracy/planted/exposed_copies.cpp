// Copies between computations.
#include <array>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/planted/pausing_job.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job copies(Random& random) {
  return pausing_job(random, {.copies = true});
}

constexpr auto kExposedCopiesCases = std::to_array<KindCase>({
    {"exposed_copies", copies, 190},
});

}  // namespace

const Planted planted::exposed_copies{.cases = kExposedCopiesCases};

}  // namespace lockstep::accuracy
