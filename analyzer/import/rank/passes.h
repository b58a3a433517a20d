// Which computations are forward and backward passes, told by the names of host ranges around their launches.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct NamedPass {
  Pass pass = Pass::other;       // forward or backward
  std::int32_t microbatch = -1;  // -1: the name does not tell it
};

// Names that Megatron, DeepSpeed and PyTorch give the pass of one microbatch, as annotations, NVTX ranges or
// Python functions:
//
//   forward_step, backward_step, forward-compute    Megatron: schedules.py, its timers
//   _exec_forward_pass, ForwardPass                 DeepSpeed: the pipeline engine and its instructions
//   DeepSpeedEngine.forward                         DeepSpeed's NVTX ranges
//   forward_one_chunk, "Forward 3", "PP:1F3"        torch.distributed.pipelining
//
// Cheap for all other names: it is asked about every host range.
std::optional<NamedPass> microbatch_pass(std::string_view name);

struct PassRange {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  NamedPass named;
};

// Gives each computation launched within such a range its pass and microbatch; of ranges within each other
// the outermost counts. Any thread may launch: PyTorch's backward runs on one of its own while
// `backward_step` waits for it. A range whose name tells no microbatch is of the n-th one if it is the n-th
// of its pass in its step. Precondition: finish(). O(ranges · log + activities · log of ranges).
void give_passes(std::vector<PassRange> ranges, RankTrace& trace);

}  // namespace lockstep::analyzer
