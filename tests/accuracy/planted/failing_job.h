// Three ranks, of which one ends before the others, and the job with an error.
#pragma once

#include <cstdint>

#include "analyzer/diagnose/hung_jobs.h"
#include "tests/accuracy/noise.h"

namespace lockstep::accuracy {

inline analyzer::Job failing_job(Random& random) {
  using analyzer::kSecond, analyzer::us;
  analyzer::JobBuilder builder;
  for (std::int32_t rank = 0; rank < 3; ++rank)
    builder.rank(rank).compute(0, 500 * us).launched(0, 1).all_reduce(500 * us, 600 * us).launched(2, 3);
  analyzer::Job job = builder.build();
  for (analyzer::RankTrace& rank : job.ranks) rank.ending.recorded_until = 9 * kSecond;
  job.ranks[random.below(3)].ending.recorded_until = 5 * kSecond;
  job.end.exit_code = 1;
  return job;
}

}  // namespace lockstep::accuracy
