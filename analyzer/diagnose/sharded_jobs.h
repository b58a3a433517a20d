// Jobs that shard their parameters, for tests.
#pragma once

#include <algorithm>
#include <cstdint>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {

struct Sharded {
  Nanoseconds ahead_us = 0;        // how long before its layer's compute is due each all-gather starts
  Nanoseconds gather_us = 100;     // how long it takes
  Nanoseconds launched_ahead = 0;  // µs between its launch and its start
  std::int64_t bytes = std::int64_t{4} << 30;
  const char* group = "fsdp";
  Nanoseconds scatter_us = 5;
  Nanoseconds after_us = 0;  // how long after what it follows each all-gather starts
  bool halves = false;       // a layer computes twice for 100 µs, and all-gathers follow the first half
};

// Four steps on two ranks, of five layers that compute for 200 µs each; before each, its parameters are
// gathered. A layer begins when the layer before is over and its parameters are there.
inline JobBuilder sharded_job(const Sharded& how) {
  JobBuilder job;
  const std::uint32_t group = job.group(how.group, {0, 1});
  Nanoseconds now = 1000 * us;
  for (int step = 0; step < 4; ++step) {
    const Nanoseconds begin = now;
    for (int rank = 0; rank < 2; ++rank) job.rank(rank).step(step, begin, begin + 1);
    Nanoseconds gathered = begin;  // when the stream of all-gathers is free
    for (int layer = 0; layer < 5; ++layer) {
      const Nanoseconds ahead = (how.halves ? 100 : how.ahead_us) * us;
      const Nanoseconds start = std::max(gathered, now - ahead) + how.after_us * us;
      gathered = start + how.gather_us * us;
      const Nanoseconds compute = std::max(now, gathered);
      for (int rank = 0; rank < 2; ++rank) {
        const Nanoseconds launch = start - how.launched_ahead * us;
        job.rank(rank)
            .collective(Operation::all_gather, start, gathered)
            .launched(launch - 1000, launch - 500)
            .in_group(group)
            .bytes(how.bytes)
            .of(DataType::bfloat16)
            .in_step(static_cast<std::uint32_t>(step));
        const Nanoseconds length = (how.halves ? 100 : 200) * us;
        for (Nanoseconds part = compute; part < compute + 200 * us; part += length) {
          job.rank(rank)
              .forward(layer, -1, part, part + length)
              .launched(launch - 400, launch - 300)
              .in_step(static_cast<std::uint32_t>(step));
        }
      }
      now = compute + 200 * us;
    }
    for (int rank = 0; rank < 2; ++rank) {
      job.rank(rank)
          .collective(Operation::reduce_scatter, now, now + how.scatter_us * us)
          .launched(now - 900, now - 800)
          .in_group(group)
          .bytes(1000)
          .in_step(static_cast<std::uint32_t>(step));
      job.rank(rank).trace().steps.back().end = now + how.scatter_us * us;
    }
    now += how.scatter_us * us;
  }
  return job;
}

}  // namespace lockstep::analyzer
