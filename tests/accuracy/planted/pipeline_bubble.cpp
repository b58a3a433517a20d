// Stages that wait for each other.
#include <array>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/planted/pipeline_plan.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job bubble(Random& random) {
  return pipeline_job(pipeline_plan(random)).build();
}

constexpr auto kPipelineBubbleCases = std::to_array<KindCase>({
    {"pipeline_bubble", bubble, 370},
});

}  // namespace

const Planted planted::pipeline_bubble{.cases = kPipelineBubbleCases};

}  // namespace lockstep::accuracy
