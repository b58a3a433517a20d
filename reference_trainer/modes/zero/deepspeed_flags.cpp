#include "reference_trainer/modes/zero/deepspeed_flags.h"

#include <algorithm>
#include <array>

#include "reference_trainer/modes/zero/batch_sizes.h"
#include "reference_trainer/modes/zero/mode.h"
#include "reference_trainer/modes/zero/options.h"
#include "reference_trainer/options/flag_kinds.h"

namespace lockstep::trainer {
namespace {

constexpr std::array<const Mode*, 3> kStages{&Zero1::mode, &Zero2::mode, &Zero3::mode};

const Mode* mode_of_stage(int stage) {
  return kStages[static_cast<std::size_t>(stage - 1)];
}

// The command line (or --config) and DeepSpeed's file, which must not say different things.
class Merge {
 public:
  Merge(const CLI::App& app, std::string file) : app_(app), file_(std::move(file)) {}

  // Where the file has a value, `value`, of the flag, takes it.
  template <class Value, class InFile>
  void take(const char* flag, const char* key, const std::optional<InFile>& in_file, Value& value) {
    if (!in_file) return;
    if (!status_.ok() || (given(flag) && static_cast<InFile>(value) == *in_file)) return;
    if (given(flag))
      status_ = contradiction(flag, fmt::format("{}", value), key, fmt::format("{}", *in_file));
    else
      value = static_cast<Value>(*in_file);
  }
  void take_precision(const std::optional<bool>& bf16, Precision& precision) {
    if (!bf16 || !status_.ok()) return;
    if (given("--dtype") && (precision == Precision::bfloat16) != *bf16)
      status_ = contradiction("--dtype", to_string(precision), "bf16.enabled", *bf16 ? "true" : "false");
    if (!given("--dtype") && *bf16) precision = Precision::bfloat16;
  }
  void take_mode(int stage, const Mode*& mode) {
    if (given("--mode") && mode != mode_of_stage(stage) && status_.ok())
      status_ = contradiction("--mode", mode->name, "zero_optimization.stage", std::to_string(stage));
    mode = mode_of_stage(stage);
  }

  bool given(const char* flag) const { return app_.count(flag) > 0; }
  const Status& status() const { return status_; }

 private:
  Error contradiction(const std::string& flag, const std::string& value, const std::string& key,
                      const std::string& in_file) const {
    return {fmt::format("{} {} and {}: {} of --deepspeed {} contradict each other: leave one of them out",
                        flag, value, key, in_file, file_)};
  }

  const CLI::App& app_;
  std::string file_;
  Status status_;
};

}  // namespace

void add_deepspeed_flag(CLI::App& app, Options& options) {
  app.add_option("--deepspeed", options.own.get<DeepSpeedOptions>().file,
                 "DeepSpeed's own JSON configuration (docs/zero.md); its stage is the mode")
      ->type_name("FILE")
      ->group(kZeroHeading);
}

Status apply_deepspeed(const CLI::App& app, Options& options) {
  DeepSpeedOptions& own = options.own.get<DeepSpeedOptions>();
  const std::string& file = own.file;
  if (file.empty()) {
    for (const int stage : {1, 2, 3})
      if (options.mode == mode_of_stage(stage)) own.zero = default_zero_options(stage);
    return {};
  }
  Result<DeepSpeedConfig> read = read_deepspeed_config(file, options.model.hidden);
  if (!read.ok()) return read.error();
  DeepSpeedConfig config = std::move(read).value();
  TrainingOptions& training = options.training;
  Merge merge(app, file);
  merge.take_mode(config.zero.stage, options.mode);
  merge.take("--batch-size", "train_micro_batch_size_per_gpu", config.batch.micro_batch, training.batch_size);
  merge.take("--gradient-accumulation", "gradient_accumulation_steps", config.batch.accumulation,
             training.gradient_accumulation);
  merge.take("--clip-grad-norm", "gradient_clipping", config.gradient_clipping, training.clip_grad_norm);
  merge.take_precision(config.bf16, options.model.precision);
  if (!merge.status().ok()) return merge.status();
  if (merge.given("--batch-size")) config.batch.micro_batch = training.batch_size;
  if (merge.given("--gradient-accumulation")) config.batch.accumulation = training.gradient_accumulation;
  own.zero = config.zero;
  own.batch_sizes = config.batch;
  options.warnings = std::move(config.warnings);
  return {};
}

Status settle_batch_sizes(Options& options, int world_size) {
  const DeepSpeedOptions& own = options.own.get<DeepSpeedOptions>();
  if (own.file.empty()) return {};
  const auto solved = solve_batch_sizes(own.batch_sizes, world_size, options.training.batch_size);
  if (!solved.ok()) return Error{own.file + ": " + solved.error().message};
  const auto [batch, accumulation] = solved.value();
  if (std::max(batch, accumulation) > kMillion)
    return Error{
        fmt::format("{}: train_batch_size {} makes micro-steps of {} sequences, {} of them a step; "
                    "neither may be above {}",
                    own.file, *own.batch_sizes.train_batch, batch, accumulation, kMillion)};
  options.training.batch_size = static_cast<int>(batch);
  options.training.gradient_accumulation = static_cast<int>(accumulation);
  return {};
}

}  // namespace lockstep::trainer
