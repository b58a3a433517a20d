// Which schedule a pipeline runs, told from the order of the forward and backward passes on each stage.
//
//   recognise({{{true, 0}, {true, 1}, {false, 0}, {false, 1}}, …})   // stage 0: F0 F1 B0 B1
//
// GPipe: all forwards, then all backwards. 1F1B (PipeDream-Flush): stage s of p runs min(m, p − s) forwards,
// then backward and forward in turn. Interleaved 1F1B (Narayanan et al., "Efficient Large-Scale Language
// Model Training on GPU Clusters Using Megatron-LM", 2021): each stage has v separate chunks of layers and
// runs min((v − 1)·n + 2(p − 1 − s), v·m) forwards, n = m / max(1, m / p), then forward and backward in turn.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/report/pipeline_report.h"

namespace lockstep::analyzer {

// One pass of one microbatch through one chunk of a stage.
struct PassItem {
  bool forward = true;
  std::int32_t microbatch = -1;
  std::int32_t chunk = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): what the compiler makes of it compares with 0
  friend auto operator<=>(const PassItem&, const PassItem&) = default;
};

struct RecognisedSchedule {
  Schedule schedule = Schedule::unknown;
  std::optional<std::int32_t> microbatches;  // absent where they are not numbered
  std::int32_t chunks = 1;
  PipelineReason reason;  // why it is unknown
};

// `stages`: the items of each stage in order of time; `chunks` of each stage. `layers_known`: else a pass
// does not tell its chunk. Then either a stage runs each microbatch several times, once for each chunk; or
// its passes are numbered through as microbatches of one chunk, and the number of chunks is told from how
// many forwards stand before each stage's first backward.
RecognisedSchedule recognise(std::vector<std::vector<PassItem>> stages, std::vector<std::int32_t> chunks,
                             bool layers_known = true);

// How many forwards stand before the first backward of stage `stage` of `stages`.
std::int64_t forwards_before_first_backward(Schedule schedule, std::int64_t stage, std::int64_t stages,
                                            std::int64_t microbatches, std::int64_t chunks);

// The bubble's share of the region where all passes are equally long and transfer is free: (p−1)/(m+p−1) of
// GPipe and 1F1B, (p−1)/(v·m+p−1) of interleaved 1F1B. Absent for an unknown schedule.
std::optional<double> ideal_bubble_ratio(Schedule schedule, std::int64_t stages, std::int64_t microbatches,
                                         std::int64_t chunks);

}  // namespace lockstep::analyzer
