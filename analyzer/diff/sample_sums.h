// Runs for the tests of comparisons: a report of so many steps on so many ranks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "analyzer/report/report.h"

namespace lockstep::analyzer::test {

inline constexpr std::int64_t kMs = 1'000'000;

// What `rank` does in `step`.
using PartsOf = std::function<Partition(std::int32_t rank, std::int64_t step)>;

inline Report report_of(const std::string& path, std::int32_t ranks, std::int64_t steps,
                        const PartsOf& parts_of) {
  Report report;
  report.path = path;
  report.world_size = ranks;
  for (std::int64_t step = 0; step < steps; ++step)
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      StepReport one{.step = step, .rank = rank, .begin_ns = 0, .end_ns = 0, .measures = {}};
      one.measures.partition = parts_of(rank, step);
      one.measures.window_ns = one.measures.partition.total();
      one.measures.compute_ns = one.measures.partition[Cause::compute];
      one.measures.exposed_communication_ns =
          one.measures.partition[Cause::transfer] + one.measures.partition[Cause::barrier_wait];
      report.steps.push_back(one);
    }
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    RankReport one;
    one.rank = rank;
    one.host = rank < 2 ? "a" : "b";
    report.ranks.push_back(one);
  }
  return report;
}

// Steps of 100 ms and a little: 70 of compute, 20 of transfer, 10 of waiting. `more_ms` of `cause` are added
// to those of `slow`; the others wait for it.
inline PartsOf training(std::int32_t slow = -1, std::int64_t more_ms = 0, Cause cause = Cause::host_bound) {
  return [=](std::int32_t rank, std::int64_t step) {
    Partition parts;
    parts[Cause::compute] = 70 * kMs + (step * 7 % 5) * 10'000;
    parts[Cause::transfer] = 20 * kMs;
    parts[Cause::barrier_wait] = 10 * kMs + (step * 3 % 4) * 10'000;
    if (slow >= 0) parts[rank == slow ? cause : Cause::barrier_wait] += more_ms * kMs;
    return parts;
  };
}

}  // namespace lockstep::analyzer::test
