// Jobs whose gradients travel in buckets, for tests.
#pragma once

#include <cstdint>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {

// Two ranks, `count` all-reduces of `bytes` a step after the whole of compute, each `transfer` long.
inline JobBuilder bucketed_job(int count, std::int64_t bytes, Nanoseconds transfer, std::int64_t first_bytes,
                               Nanoseconds first, int steps = 3) {
  JobBuilder job;
  for (int step = 0; step < steps; ++step) {
    const Nanoseconds begin = step * 100'000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      RankBuilder& builder = job.rank(rank);
      builder.step(step, begin, begin + 90'000 * us);
      builder.compute(begin, begin + 10'000 * us).launched(begin, begin + 1);
      Nanoseconds at = begin + 10'000 * us;
      for (int i = 0; i < count; ++i) {
        const Nanoseconds end = at + (i == 0 ? first : transfer);
        builder.all_reduce(at, end).bytes(i == 0 ? first_bytes : bytes).launched(begin + 2, begin + 3);
        at = end;
      }
    }
  }
  return job;
}

}  // namespace lockstep::analyzer
