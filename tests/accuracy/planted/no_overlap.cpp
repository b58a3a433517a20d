// Communication and computation take turns.
#include <array>

#include "analyzer/diagnose/bucketed_jobs.h"
#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job nothing_hidden(Random& random) {
  return bucketed_job(8, 10 << 20, about(random, 1000), 1 << 20, 110 * us).build();
}

constexpr auto kNoOverlapCases = std::to_array<KindCase>({
    {"no_overlap", nothing_hidden, 130},
});

}  // namespace

const Planted planted::no_overlap{.cases = kNoOverlapCases};

}  // namespace lockstep::accuracy
