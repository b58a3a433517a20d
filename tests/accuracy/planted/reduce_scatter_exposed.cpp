// The last gradients of a step are scattered when nothing is left to compute.
#include <array>

#include "analyzer/diagnose/sharded_jobs.h"
#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job exposed_scatter(Random& random) {
  return sharded_job({.ahead_us = 150, .scatter_us = between(random, 70, 90)}).build();
}

constexpr auto kReduceScatterExposedCases = std::to_array<KindCase>({
    {"reduce_scatter_exposed", exposed_scatter, 180},
});

}  // namespace

const Planted planted::reduce_scatter_exposed{.cases = kReduceScatterExposedCases};

}  // namespace lockstep::accuracy
