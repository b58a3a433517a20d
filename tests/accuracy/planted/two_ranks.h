// Two ranks that compute, and then reduce with nothing beside it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/accuracy/about.h"

namespace lockstep::accuracy {

// Ten steps: 500 µs of compute, and an all-reduce of which nothing is hidden.
inline analyzer::Job two_ranks(Random& random, const char* group_name,
                               std::vector<analyzer::ChannelPath> paths, const char* second_host) {
  using analyzer::Nanoseconds, analyzer::us;
  analyzer::JobBuilder builder;
  const std::uint32_t group = builder.group(group_name, {0, 1});
  const Nanoseconds transfer = about(random, 200);
  for (int step = 0; step < 10; ++step) {
    const Nanoseconds begin = step * 1000 * us, arrival = begin + 500 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      builder.rank(rank).compute(begin, arrival).launched(begin, begin + 1);
      builder.rank(rank).all_reduce(arrival, arrival + transfer).launched(begin, begin + 1).in_group(group);
      builder.rank(rank).trace().device = "cuda:0";
      builder.rank(rank).trace().host = rank == 0 ? "node0" : second_host;
    }
  }
  analyzer::Job job = builder.build();
  job.paths = std::move(paths);
  return job;
}

}  // namespace lockstep::accuracy
