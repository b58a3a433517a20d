// What the tests of this folder look at: reports of hand-made jobs. Times are in µs, to stand above every
// resolution.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {

inline constexpr Nanoseconds us = 1000, ms = 1000 * us;

inline Report report_of(const Job& job) {
  return checked_analysis(job).report;
}
inline Report report_of(const JobBuilder& builder) {
  return report_of(builder.build());
}

inline std::vector<std::string> codes_of(const std::vector<Warning>& warnings) {
  std::vector<std::string> codes;
  for (const Warning& warning : warnings) codes.push_back(warning.code);
  return codes;
}

inline std::vector<std::string> codes_of(const std::vector<Finding>& findings) {
  std::vector<std::string> codes;
  for (const Finding& finding : findings) codes.push_back(finding.code);
  return codes;
}

inline Finding finding(const Report& report, const std::string& code) {
  for (const Finding& candidate : report.findings) {
    if (candidate.code == code) return candidate;
  }
  ADD_FAILURE() << "no finding " << code;
  return {};
}

// `steps` steps of 1000 µs on four ranks: each computes `layer` for 300 µs (rank `slow` longer), then an
// all-reduce that ends 50 µs after the last arrival. Everything was launched long before.
inline JobBuilder straggling_job(int steps, std::int32_t slow, Nanoseconds longer_us, int every = 1) {
  JobBuilder job;
  for (int step = 0; step < steps; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    const Nanoseconds extra = step % every == 0 ? longer_us * us : 0;
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      // Ranks differ by a little, so that without the slow one rank 3 is last, by 1 µs.
      const Nanoseconds end = begin + (300 + rank) * us + (rank == slow ? extra : 0);
      job.rank(rank).step(step, begin, begin + 900 * us);
      job.rank(rank).compute(begin, end, "layer").launched(begin, begin + 1);
      job.rank(rank).all_reduce(end, begin + (353 * us) + extra).launched(begin + 2, begin + 3);
    }
  }
  return job;
}

struct Absence {
  std::int32_t ranks = 2;
  std::int32_t absent = 1;  // the rank that never comes to the last all-reduce
  int all_reduces = 3;      // of the others, 10 ms apart, of 1 ms each but for the last
  Nanoseconds given_up_after = 0;
};
inline Job job_with_absent_rank(const Absence& absence) {
  JobBuilder builder;
  std::vector<std::int32_t> members;
  for (std::int32_t rank = 0; rank < absence.ranks; ++rank) members.push_back(rank);
  const std::uint32_t group = builder.group("data parallel", members);
  const int last = absence.all_reduces - 1;
  for (const std::int32_t rank : members) {
    for (int i = 0; i < (rank == absence.absent ? last : absence.all_reduces); ++i) {
      const Nanoseconds begin = i * 10'000 * us;
      builder.rank(rank)
          .all_reduce(begin, begin + (i == last ? absence.given_up_after : 1000 * us))
          .launched(begin, begin + 1)
          .in_group(group)
          .sequence(i);
    }
  }
  return builder.build();
}

}  // namespace lockstep::analyzer
