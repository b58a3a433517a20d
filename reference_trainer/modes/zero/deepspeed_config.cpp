#include "reference_trainer/modes/zero/deepspeed_config.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "reference_trainer/modes/zero/config_section.h"

namespace lockstep::trainer {
namespace {

constexpr std::int64_t kLargestHidden = 1'000'000;  // its square stays far from the end of int64
constexpr std::int64_t kLargestBatch = 1'000'000;
const NumberRule kElements{.least = 0, .unit = "elements"};
const NumberRule kBucket{.least = 1, .unit = "elements"};

OffloadOptions read_offload(ConfigSection section) {
  OffloadOptions options;
  const bool has_path = section.has("nvme_path");
  options.device = static_cast<OffloadDevice>(section.choice("device", {"none", "cpu", "nvme"}).value_or(0));
  options.pin_memory = section.boolean("pin_memory").value_or(false);
  if (options.pin_memory) section.warn("pin_memory", "ignored: a CPU's memory is all alike");
  options.nvme_path = section.text("nvme_path").value_or("");
  if (options.device == OffloadDevice::nvme && options.nvme_path.empty())
    section.refuse("nvme_path",
                   has_path ? nlohmann::ordered_json(options.nvme_path) : nlohmann::ordered_json(),
                   "a folder, because device is \"nvme\"");
  section.ignore_the_rest();
  return options;
}

ZeroOptions read_zero(ConfigSection zero, std::int64_t hidden) {
  // Stage 0 has a message of its own, at the end.
  const auto stage = static_cast<int>(
      zero.whole_or("stage", {.least = 0, .most = 3, .expected = "a whole number from 1 to 3"}, 0));
  // What acts at other stages alone is read all the same: wrong values are errors at every stage.
  const std::vector<const char*> of_stage_3{"sub_group_size",
                                            "stage3_prefetch_bucket_size",
                                            "stage3_param_persistence_threshold",
                                            "stage3_max_live_parameters",
                                            "stage3_max_reuse_distance",
                                            "offload_param"};
  for (const char* key : stage == 3 ? std::vector<const char*>{"allgather_bucket_size"} : of_stage_3)
    if (zero.has(key)) zero.warn(key, fmt::format("ignored at stage {}", stage));

  ZeroOptions options = default_zero_options(stage);
  options.overlap_comm = zero.boolean("overlap_comm").value_or(options.overlap_comm);
  options.contiguous_gradients = zero.boolean("contiguous_gradients").value_or(options.contiguous_gradients);
  options.reduce_scatter = zero.boolean("reduce_scatter").value_or(options.reduce_scatter);
  const auto size = [&zero](const char* key, const NumberRule& rule, std::int64_t& value,
                            std::optional<std::int64_t> automatic = std::nullopt) {
    value = zero.whole_or(key, rule, value, automatic);
  };
  size("reduce_bucket_size", kBucket, options.reduce_bucket_size, hidden * hidden);
  size("allgather_bucket_size", kBucket, options.allgather_bucket_size);
  size("sub_group_size", kBucket, options.sub_group_size);
  size("stage3_prefetch_bucket_size", kElements, options.prefetch_bucket_size, hidden * hidden * 9 / 10);
  size("stage3_param_persistence_threshold", kElements, options.param_persistence_threshold, 10 * hidden);
  size("stage3_max_live_parameters", kElements, options.max_live_parameters);
  size("stage3_max_reuse_distance", kElements, options.max_reuse_distance);
  options.offload_optimizer = read_offload(zero.section("offload_optimizer"));
  options.offload_param = read_offload(zero.section("offload_param"));
  zero.ignore_the_rest();
  return options;
}

// "bfloat16" is DeepSpeed's other name for the section.
std::optional<bool> read_bf16(ConfigSection& root) {
  ConfigSection section = root.section(root.has("bf16") ? "bf16" : "bfloat16");
  const std::optional<bool> enabled = section.boolean("enabled", true);
  section.ignore_the_rest();
  return enabled;
}

void refuse_fp16(ConfigSection section) {
  if (section.boolean("enabled", true).value_or(false))
    section.refuse("enabled", true, "false: this trainer computes in bf16 or fp32; enable bf16 instead");
  section.ignore_the_rest();
}

std::optional<std::int64_t> read_batch(ConfigSection& root, const char* key) {
  return root.whole(key, {.least = 1, .most = kLargestBatch}, true);
}

}  // namespace

ZeroOptions default_zero_options(int stage) {
  ZeroOptions options;
  options.stage = stage;
  options.overlap_comm = stage == 3;
  return options;
}

Result<DeepSpeedConfig> parse_deepspeed_config(const std::string& text, const std::string& file_name,
                                               std::int64_t hidden) {
  if (hidden < 1 || hidden > kLargestHidden) return Error{fmt::format("a model of width {}", hidden)};
  ConfigFile file(file_name);
  ConfigSection root = parse_config(file, text);
  DeepSpeedConfig config;
  ConfigSection zero = root.section("zero_optimization");
  const bool has_stage = zero.has("stage");
  config.zero = read_zero(std::move(zero), hidden);
  config.batch.micro_batch = read_batch(root, "train_micro_batch_size_per_gpu");
  config.batch.accumulation = read_batch(root, "gradient_accumulation_steps");
  config.batch.train_batch = root.whole("train_batch_size", {.least = 1}, true);
  config.gradient_clipping = root.number("gradient_clipping", 0, true);
  config.bf16 = read_bf16(root);
  refuse_fp16(root.section("fp16"));
  if (!has_stage)
    root.miss("zero_optimization.stage", "1, 2 or 3; without ZeRO it is --mode ddp, without this file");
  else if (config.zero.stage == 0)
    root.refuse("zero_optimization.stage", 0, "1, 2 or 3: stage 0 is --mode ddp, without this file");
  root.ignore_the_rest();
  if (file.error) return *file.error;
  config.warnings = std::move(file.ignored);
  for (std::string& warning : config.warnings) warning.insert(0, file_name + ": ");
  return config;
}

Result<DeepSpeedConfig> read_deepspeed_config(const std::string& path, std::int64_t hidden) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return Error{fmt::format("--deepspeed '{}' is not a file that can be read", path)};
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.good() && !stream.eof()) return Error{fmt::format("--deepspeed '{}': cannot read it", path)};
  Result<DeepSpeedConfig> config = parse_deepspeed_config(text, path, hidden);
  if (!config.ok()) return config;
  const ZeroOptions& zero = config.value().zero;
  for (const auto& [key, offload] : {std::pair("offload_optimizer", &zero.offload_optimizer),
                                     std::pair("offload_param", &zero.offload_param)}) {
    if (offload->device == OffloadDevice::nvme && !std::filesystem::is_directory(offload->nvme_path, error))
      return Error{fmt::format("{}: zero_optimization.{}.nvme_path: \"{}\" must be a folder that exists",
                               path, key, offload->nvme_path)};
  }
  return config;
}

}  // namespace lockstep::trainer
