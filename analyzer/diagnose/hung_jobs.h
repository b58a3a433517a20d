// Jobs that hung, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {

inline constexpr Nanoseconds kSecond = 1'000'000'000;

// Four ranks, three all-reduces of 1 ms each; then those of `stuck` wait in the fourth until the recording
// ends `waited` later.
inline Job hung_job(const std::vector<std::int32_t>& stuck, Nanoseconds waited, bool noted = false) {
  JobBuilder builder;
  const std::uint32_t data_parallel = builder.group("data parallel", {0, 1, 2, 3});
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    for (int i = 0; i < 3; ++i) {
      const Nanoseconds begin = i * 10'000 * us;
      builder.rank(rank).compute(begin, begin + 5000 * us).launched(begin, begin + 1);
      builder.rank(rank)
          .all_reduce(begin + 5000 * us, begin + 6000 * us)
          .launched(begin + 2, begin + 3)
          .in_group(data_parallel)
          .sequence(i);
    }
  }
  Job job = builder.build();
  const Nanoseconds begin = 36'000 * us;
  for (RankTrace& rank : job.ranks) {
    rank.ending.recorded_until = begin + waited;
    if (noted) rank.ending.hang_noted = begin + waited;
    if (std::find(stuck.begin(), stuck.end(), rank.rank) == stuck.end()) continue;
    OpenOperation operation;
    operation.begin = begin + rank.rank;
    operation.name = job.strings.intern("all_reduce gradients");
    operation.operation = Operation::all_reduce;
    operation.sequence = 3;
    operation.group = data_parallel;
    rank.ending.operations.push_back(operation);
  }
  return job;
}

// Rank 2 is somewhere else; the others left the fourth all-reduce by their timeout, 12 s later, and the
// recorder noted the silence that followed.
inline Job job_that_gave_up() {
  Job job = job_with_absent_rank({.ranks = 4, .absent = 2, .all_reduces = 4, .given_up_after = 12 * kSecond});
  for (RankTrace& rank : job.ranks) rank.ending.recorded_until = rank.ending.hang_noted = 20 * kSecond;
  job.ranks[2].ending.doing = "evaluate in train.py:5";
  return job;
}

}  // namespace lockstep::analyzer
