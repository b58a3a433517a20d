// Jobs whose every answer is known, for tests and benchmarks.
//
// Each step of a rank takes kStep ns: the host's step range over all of it, data loading for 100 ns, compute
// from 100 ns on, for 400 ns and as many more as the rank is late; then an all-reduce that ends at 1,000 ns
// after the step's begin on every rank. So rank r waits max(late) − late[r] per step.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::viewer {

inline constexpr std::int64_t kSyntheticStep = 1'200;

struct SyntheticOptions {
  std::vector<std::int64_t> late = {0, 0, 300,
                                    100};  // per rank, ns, at most 400; its size is the number of ranks
  std::int64_t steps = 3;
  std::int64_t begin = 0;  // of the first step
};

analyzer::Job synthetic_job(const SyntheticOptions& options = {});

}  // namespace lockstep::viewer
