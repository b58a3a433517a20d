// DeepSpeed's own JSON configuration, as far as the reference trainer acts on it (docs/zero.md says what each
// key does here). Sizes are in elements, not bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace lockstep::trainer {

enum class OffloadDevice { none, cpu, nvme };

struct OffloadOptions {
  OffloadDevice device = OffloadDevice::none;
  std::string nvme_path;  // a folder; for nvme alone
  bool pin_memory = false;
};

// The section "zero_optimization", with DeepSpeed's defaults.
struct ZeroOptions {
  int stage = 0;
  bool overlap_comm = false;  // DeepSpeed's default is true at stage 3
  bool contiguous_gradients = true;
  bool reduce_scatter = true;  // false: all-reduce, of which each rank keeps its part
  std::int64_t reduce_bucket_size = 500'000'000;
  std::int64_t allgather_bucket_size = 500'000'000;
  std::int64_t sub_group_size = 1'000'000'000;
  std::int64_t prefetch_bucket_size = 50'000'000;
  std::int64_t param_persistence_threshold = 100'000;
  std::int64_t max_live_parameters = 1'000'000'000;
  std::int64_t max_reuse_distance = 1'000'000'000;
  OffloadOptions offload_optimizer;
  OffloadOptions offload_param;
};

// What DeepSpeed assumes for a stage without a configuration.
ZeroOptions default_zero_options(int stage);

// Sequences: of a rank's micro-step, micro-steps of a step, and of a step over all ranks.
struct BatchSizes {
  std::optional<std::int64_t> micro_batch, accumulation, train_batch;
};

struct DeepSpeedConfig {
  ZeroOptions zero;
  // Nothing: "auto" or not there, which leaves it to the trainer's own flags.
  BatchSizes batch;
  std::optional<double> gradient_clipping;
  std::optional<bool> bf16;
  // One line for each key that is there and has no effect, with its path.
  std::vector<std::string> warnings;
};

// `hidden`: the model's width. "auto" sizes follow from it as in Hugging Face's integration: reduce bucket
// hidden², prefetch bucket 0.9·hidden², persistence threshold 10·hidden.
// Errors name file, key path, value and what would be right; `file` is the name they use.
Result<DeepSpeedConfig> parse_deepspeed_config(const std::string& text, const std::string& file,
                                               std::int64_t hidden);
Result<DeepSpeedConfig> read_deepspeed_config(const std::string& path, std::int64_t hidden);

}  // namespace lockstep::trainer
