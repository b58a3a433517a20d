// What a rank does between its computations, where a finding says already that it is late by that.
#include <gtest/gtest.h>

#include <cstdint>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

// Seen of a spin that made a rank late: the line was named again for what is left of the rank's time, which
// the other rank has as well.
TEST(HostBound, WhatARankIsNamedLateForIsNotNamedAgain) {
  const auto of = [](std::int64_t late_us, std::int64_t more_us) {
    constexpr int kSteps = 24;
    JobBuilder builder;
    for (int rank = 0; rank < 2; ++rank)
      for (int step = 0; step < kSteps; ++step) {
        const Nanoseconds begin = step * 2000 * us;
        const Nanoseconds late = rank == 1 ? late_us * us : 0, more = rank == 1 ? more_us * us : 0;
        builder.rank(rank).trace().device = "cpu";
        builder.rank(rank).step(step, begin, begin + 2000 * us);
        builder.rank(rank).compute(begin, begin + 300 * us).launched(begin, begin);
        const Nanoseconds arrival = begin + 500 * us + late;
        builder.rank(rank).all_reduce(arrival, begin + 1000 * us).launched(arrival, arrival);
        // Behind the operation nobody waits for what takes one rank longer.
        builder.rank(rank)
            .compute(begin + 1000 * us + more, begin + 2000 * us)
            .launched(begin + 1000 * us, begin + 1000 * us);
      }
    Job job = builder.build();
    const std::uint32_t trains = job.strings.intern("step (train.py:7)"),
                        spins = job.strings.intern("spin (train.py:31)");
    for (RankTrace& rank : job.ranks)
      for (int step = 0; step < kSteps; ++step)
        for (const Nanoseconds at : {310 * us, 400 * us}) {
          const Nanoseconds begin = step * 2000 * us + at;
          rank.host_ranges.push_back({begin, begin + 10 * us,
                                      rank.rank == 1 && at > 310 * us ? spins : trains, 0, 0,
                                      HostKind::python_place});
        }
    return report_of(job);
  };
  const Report late = of(200, 0);
  EXPECT_EQ(finding(late, "straggler_persistent").rank, 1);
  const Finding rest = finding(late, "idle_between_computations");
  EXPECT_EQ(rest.rank, std::nullopt) << rest.title;
  EXPECT_EQ(rest.lost_ns, 2 * 24 * 200 * us);
  // Beyond that it is longer there than the other rank.
  const Finding more = finding(of(200, 300), "idle_between_computations");
  EXPECT_EQ(more.rank, 1) << more.title;
}

}  // namespace
}  // namespace lockstep::analyzer
