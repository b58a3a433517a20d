// A rank ends before the others, and the job with an error.
#include <array>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/planted/failing_job.h"

namespace lockstep::accuracy {
namespace {

constexpr auto kJobFailedCases = std::to_array<KindCase>({
    {"job_failed", failing_job, 70},
});

}  // namespace

const Planted planted::job_failed{.cases = kJobFailedCases};

}  // namespace lockstep::accuracy
