// A stage that computes more than the others.
#include <array>
#include <cstddef>

#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"
#include "tests/accuracy/planted/pipeline_plan.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job unbalanced(Random& random) {
  PipelinePlan plan = pipeline_plan(random);
  plan.slow_stage = static_cast<int>(random.below(static_cast<std::size_t>(plan.stages)));
  plan.slower_by = about(random, 10);
  return pipeline_job(plan).build();
}

constexpr auto kUnbalancedStagesCases = std::to_array<KindCase>({
    {"unbalanced_stages", unbalanced, 380},
});

}  // namespace

const Planted planted::unbalanced_stages{.cases = kUnbalancedStagesCases};

}  // namespace lockstep::accuracy
