// A job as people have them, made up: data-parallel training on two hosts, with layers, buckets that compute
// hides in part, data loading, copies, memory counters and clocks that are known to within microseconds. The
// same numbers every time.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/model/job.h"

namespace lockstep::viewer {

struct TrainingOptions {
  std::int32_t ranks = 8;  // the first half on node0, the others on node1
  std::int64_t steps = 10;
  std::int32_t slow_rank = 5;  // whose layers take slow_factor as long from step slow_from on; -1: none
  std::int64_t slow_from = 4;
  double slow_factor = 1.6;
  std::int32_t late_loader = 2;  // whose data come 12 ms late in step late_step
  std::int64_t late_step = 2;
  double link_slowness = 1;  // each bucket's transfer takes so many times as long
  std::string path = "runs/gpt-small";
};

analyzer::Job training_job(const TrainingOptions& options = {});

}  // namespace lockstep::viewer
