// How fast the hosts of ranks with GPUs would be by themselves. A host runs ahead of its GPU: two that launch
// equally fast, one of them a few milliseconds later, keep that distance for the whole run, and in each
// operation the one's GPU waits for the other's. That costs nothing: neither would be any faster without the
// other. What a rank that is late costs in a step is no more than the others' hosts have time left in it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/diagnose/shared_gpus.h"
#include "analyzer/lateness/step_table.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

class HostPace {
 public:
  // Linear in the activities and ranges of the job.
  explicit HostPace(const Job& job);

  // How long the rank's host took from the beginning of the step, by its mark, to that of the next, without
  // the time in which it waited for its GPU: synchronization, and CUDA calls of 20 µs and more, which are
  // those that a full queue holds up. Absent where it is not known: the rank has no GPU, its CUDA calls or no
  // wait at all were recorded, or some of its collectives are the host's own, in which it may wait as well.
  std::optional<std::int64_t> own_ns(std::int32_t rank, std::int64_t step) const;

  // Another rank of the same host computes on the same GPU. How long that takes then is the GPU's choice in
  // part.
  bool shares_gpu(std::int32_t rank) const;

 private:
  struct StepTime {
    std::int64_t step = 0;
    std::int64_t own_ns = 0;
  };
  struct Host {
    bool shares_gpu = false;
    std::vector<StepTime> steps;  // sorted by number; empty where they are not known
  };
  std::map<std::int32_t, Host> hosts_;  // by rank
};

// Ranks of `table` are late by no more than what the lower median of the others' hosts have left of the late
// rank's step; or their own, where it is longer and not by much. Much is a third, in the run or in ten steps,
// or in the step itself twice as long and longer by a fifth of it: then the longest window of the step
// counts. One that shares its GPU is late by no more than what its host works longer than the others', where
// that is a third or more, or what it computes beyond the others of its GPU (SharedGpuTimes), whichever is
// more, and else not at all. Nothing changes where the hosts' times are not known.
//
// What ranks wait beyond that, their own hosts need as well (StepTable::behind_hosts_ns). Not so where the
// latest rank of the step shares its GPU: there only what they waited for launches is the hosts', and the
// rest behind_gpu_ns. O(steps · ranks · log ranks).
void limit_to_hosts(const HostPace& pace, const SharedGpuTimes& shared, StepTable& table);

}  // namespace lockstep::analyzer
