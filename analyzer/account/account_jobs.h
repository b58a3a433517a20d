// For this folder's tests: jobs, and their accounts.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "analyzer/account/account.h"
#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {

inline constexpr std::int64_t kNoWarmUp = std::numeric_limits<std::int64_t>::min();

inline AccountReport account_of(const Job& job, std::int64_t first_after_warm_up = kNoWarmUp,
                                bool told = true) {
  std::vector<RankWindows> windows;
  std::vector<Phases> phases;
  for (const RankTrace& rank : job.ranks) {
    windows.push_back(find_windows(rank));
    phases.push_back(find_phases(rank, job.strings));
  }
  return account_for(job, windows, phases, first_after_warm_up, told, 0);
}

// Two ranks: imports from 0, model set up until 100, steps 0 to 3 of 100 each from there, of which the first
// is warm-up, saved in [350, 380), ends at 500.
inline JobBuilder job_of_500() {
  JobBuilder job;
  for (int rank = 0; rank < 2; ++rank) {
    job.rank(rank).host_range(0, 60, "start-up: imports");
    for (int step = 0; step < 4; ++step) {
      const Nanoseconds begin = 100 + 100 * step;
      job.rank(rank).step(step, begin, begin + 100);
      job.rank(rank).compute(begin, begin + 100).launched(begin, begin + 1);
    }
    job.rank(rank).host_range(350, 380, "torch.save");
    job.rank(rank).trace().ending.recorded_until = 520;
  }
  return job;
}

inline void expect_sums(const AccountReport& report) {
  for (const RankAccount& rank : report.ranks) EXPECT_EQ(rank.spent.total(), report.wall_ns) << rank.rank;
  EXPECT_EQ(report.spent.total(), static_cast<std::int64_t>(report.ranks.size()) * report.wall_ns);
}

}  // namespace lockstep::analyzer
