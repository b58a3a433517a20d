// Somebody ends the job by a signal.
#include <array>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/planted/failing_job.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job is_interrupted(Random& random) {
  Job job = failing_job(random);
  for (RankTrace& rank : job.ranks) {
    rank.ending.recorded_until = 9 * kSecond;
    rank.ending.interrupted = 9 * kSecond;
  }
  job.end.interrupted_by = random.below(2) == 0 ? 2 : 15;
  job.end.interrupted_at = 9 * kSecond;
  return job;
}

constexpr auto kJobInterruptedCases = std::to_array<KindCase>({
    {"job_interrupted", is_interrupted, 80},
});

}  // namespace

const Planted planted::job_interrupted{.cases = kJobInterruptedCases};

}  // namespace lockstep::accuracy
