// What was measured of a pipeline, as plain data (docs/metrics.md, "Pipelines").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::analyzer {

enum class Schedule : std::uint8_t { unknown, gpipe, one_forward_one_backward, interleaved };
const char* to_string(Schedule schedule);  // "gpipe", "1f1b", "interleaved", "unknown"

// Why a ratio of a pipeline is absent, or its schedule unknown; reason_text (measure_words.h) says it.
struct PipelineReason {
  enum class Code : std::uint8_t {
    none,
    ranks_missing,    // `count` of its `of` ranks left no trace
    activities_lost,  // with a damaged part of a rank's file
    // From here on the bubble's ratio is known and the schedule is not.
    passes_unknown,           // not every rank says which of its computations are passes
    microbatches_unnumbered,  // not every pass tells its microbatch
    chunks_differ,            // `stage` has `count` separate blocks of layers, another one `of`
    backward_split,           // gradients of weights apart from those of inputs (zero bubble)
    passes_missing,           // `stage` does not run each of `count` microbatches once in each direction
    order_not_interleaved,    // of stages with several blocks of layers
    order_unrecognised,       // of stages with one: neither GPipe's nor 1F1B's
  };
  Code code = Code::none;
  std::int32_t stage = 0;
  std::int64_t count = 0, of = 0;
  bool operator==(const PipelineReason&) const = default;
};

// One stage of a pipeline over the regions of all steps: compute, exposed transfer and bubble sum to the
// regions. Durations in the passes are sums of ranges; `compute_ns` is their union within the regions.
struct PipelineStage {
  std::int32_t stage = 0;
  std::int32_t rank = 0;
  std::vector<std::int32_t> layers;  // of its forward passes, sorted
  std::int64_t forward_ns = 0, backward_ns = 0, recompute_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t exposed_transfer_ns = 0;
  std::int64_t bubble_ns = 0;
  // The bubble before the stage's first backward starts, until its last forward ends, and after. Absent where
  // passes are not known.
  std::optional<std::int64_t> warm_up_ns, steady_ns, cool_down_ns;
};

struct PipelineReport {
  std::string group;
  std::int32_t stages = 0;
  std::optional<std::int32_t> microbatches;
  std::int32_t chunks = 1;
  Schedule schedule = Schedule::unknown;
  std::optional<double> bubble_ratio, bubble_ratio_ideal;
  PipelineReason reason = {};
  std::int64_t bubble_ns = 0;  // bubble_ratio = bubble_ns / (stages · region_ns)
  std::int64_t region_ns = 0;  // Σ over steps
  std::int64_t steps = 0;      // how many regions
  bool passes_known = false;   // regions are of forward and backward ranges, not of messages
  std::vector<PipelineStage> stages_detail = {};
};

}  // namespace lockstep::analyzer
