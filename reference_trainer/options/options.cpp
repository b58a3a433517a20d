#include "reference_trainer/options/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "reference_trainer/model/llama_shape.h"
#include "reference_trainer/options/flags.h"
#include "reference_trainer/options/json_config.h"
#include "reference_trainer/pipeline/layout.h"

namespace lockstep::trainer {
namespace {

constexpr const char* kDescription =
    "lockstep train: trains a decoder-only transformer on the bytes of a text, on one or several ranks.\n"
    "Data parallel, sharded, pipelined or single, on libtorch over Gloo or NCCL, annotated with NVTX\n"
    "(docs/instrumentation.md); docs/training.md tells what each mode does.";

constexpr const char* kFooter =
    "Examples:\n"
    "  lockstep train                                   one process, the project's documentation as text\n"
    "  lockstep train --ranks 4 --steps 50              four processes on this machine\n"
    "  lockstep train --ranks 4 --bucket-cap-mb 25      one large bucket: little communication is hidden\n"
    "  lockstep train --ranks 4 --mode fsdp --backward-prefetch none\n"
    "                                                   parameters sharded, each gathered when it is needed\n"
    "  lockstep train --ranks 4 --slow-rank 2           rank 2 computes twice: the others wait for it\n"
    "  lockstep train --ranks 4 --deepspeed zero3.json  ZeRO, as DeepSpeed's configuration says\n"
    "  lockstep train --ranks 4 --mode pipeline --layers 8 --microbatches 16\n"
    "                                                   four stages of two layers, 1F1B\n"
    "  lockstep train --ranks 2 --device cuda           on this machine's GPUs (scripts/setup --cuda)\n"
    "  lockstep record -o run -- lockstep train --ranks 4\n"
    "  torchrun --no-python --nproc-per-node 4 lockstep train --steps 50\n"
    "\n"
    "Exit codes: 0 trained; 1 training failed; 2 a wrong flag or value; where a rank dies, its exit code, or "
    "128 plus the\n"
    "number of the signal that killed it.";

CommandLine usage_error(const std::string& message) {
  return {.options = {},
          .exits = true,
          .exit_code = 2,
          .output = "lockstep train: " + message + "\nTry 'lockstep train --help'.\n"};
}

Status check_model(const ModelOptions& model) {
  if (model.architecture == Architecture::llama) {
    const Result<LlamaShape> shape =
        llama_shape(model.hidden, model.heads, model.kv_heads, model.intermediate_size);
    return shape.ok() ? Status() : shape.error();
  }
  if (model.kv_heads != 0 || model.intermediate_size != 0)
    return Error{fmt::format("{} belongs to --model llama, and this is --model {}",
                             model.kv_heads != 0 ? "--kv-heads" : "--intermediate-size",
                             to_string(model.architecture))};
  if (model.hidden % model.heads != 0)
    return Error{fmt::format("--hidden {} is not a multiple of --heads {}", model.hidden, model.heads)};
  return {};
}

Status check_fsdp(const Options& options, int world_size) {
  const FsdpOptions& fsdp = options.fsdp;
  if (fsdp.shard_size > 0 && fsdp.strategy != ShardingStrategy::hybrid_shard)
    return Error{
        "--shard-size says over how many ranks hybrid_shard shards: give --sharding-strategy hybrid_shard"};
  if (fsdp.shard_size > 0 && world_size % fsdp.shard_size != 0)
    return Error{fmt::format("--shard-size {}: {} ranks can't be cut into groups of {}; it must divide {}",
                             fsdp.shard_size, world_size, fsdp.shard_size, world_size)};
  if (fsdp.reduce_in_float32 && options.model.precision != Precision::bfloat16)
    return Error{fmt::format("--reduce-in-float32 is for --dtype bfloat16, and this is --dtype {}",
                             to_string(options.model.precision))};
  return {};
}

Status check_device(const Options& options) {
  if (options.device == Device::paced && options.pace.flops_per_second == 0)
    return Error{"--device paced: how fast is the modelled accelerator? Give --flops, as 1e9"};
  const PaceOptions& pace = options.pace;
  if (options.device != Device::paced &&
      (pace.flops_per_second != 0 || pace.jitter != 0 || pace.bytes_per_second != 0 || pace.latency_us != 0))
    return Error{"--flops, --jitter, --bandwidth and --latency model a device: they need --device paced"};
  const bool cuda = options.device == Device::cuda;
  if (!cuda && options.transport != Transport::automatic)
    return Error{fmt::format("--backend {} needs --device cuda: on --device {} it is always gloo",
                             to_string(options.transport), to_string(options.device))};
  if (cuda && options.mode == Mode::pipeline && options.transport == Transport::nccl)
    return Error{"--mode pipeline sends over Gloo on --device cuda: give --backend gloo, or leave it out"};
  for (const Fault& fault : options.faults) {
    if (cuda && (fault.kind == FaultKind::skip_collective || fault.kind == FaultKind::slow_link))
      return Error{fmt::format("--fault {}: is planted in the CPU's Gloo, and this is --device cuda",
                               to_string(fault.kind))};
  }
  return {};
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  Options& options = line.options;
  CLI::App app(kDescription, "lockstep train");
  app.footer(describe_teaching_flags() + kFooter);
  app.get_formatter()->column_width(34);
  app.set_config("--config", "",
                 "JSON file with flags by name: {\"mode\": \"fsdp\", \"ranks\": 4}; flags win over it")
      ->type_name("FILE")
      ->group("Job");
  app.config_formatter(std::make_shared<JsonConfig>(app));
  app.allow_config_extras(CLI::config_extras_mode::error);
  add_job_flags(app, options);
  add_device_flags(app, options);
  add_model_flags(app, options.model);
  add_training_flags(app, options.training);
  add_ddp_flags(app, options.ddp);
  add_fsdp_flags(app, options.fsdp);
  add_zero_flags(app, options);
  add_pipeline_flags(app, options.pipeline);
  add_teaching_flags(app, options);
  // Who adds a flag to a command that has it already wants the new value.
  for (CLI::Option* const option : app.get_options()) {
    if (option->get_name() != "--fault") option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.exits = true;
    line.output = app.help();
    return line;
  } catch (const CLI::ConfigError& error) {
    const std::vector<std::string>& files = app.get_config_ptr()->results();
    const std::string file = files.empty() ? "" : " " + files.back();
    return usage_error(fmt::format("--config{}: {}", file, error.what()));
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  if (options.slow.rank >= 0)
    options.faults.push_back({.kind = FaultKind::slow_rank,
                              .place = options.slow.rank,
                              .amount = static_cast<double>(options.slow.factor)});
  if (const Status status = apply_deepspeed(app, options); !status.ok())
    return usage_error(status.error().message);
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<Mode> modes = modes_of_group(option->get_group());
    if (option->count() == 0 || modes.empty() ||
        std::find(modes.begin(), modes.end(), options.mode) != modes.end())
      continue;
    return usage_error(fmt::format("{} belongs to --mode {}, and this is --mode {}", option->get_name(),
                                   to_string(modes.front()), to_string(options.mode)));
  }
  return line;
}

Status check_options(const Options& options, int world_size) {
  if (const Status status = check_model(options.model); !status.ok()) return status;
  if (options.mode == Mode::single && world_size > 1)
    return Error{
        fmt::format("--mode single: this job has {} ranks; --mode ddp or fsdp shares the work", world_size)};
  if ((options.mode == Mode::fsdp || zero_stage(options.mode) > 0) && world_size == 1)
    return Error{
        fmt::format("--mode {}: one rank has nobody to share with; give --ranks N", to_string(options.mode))};
  if (const Status status = check_fsdp(options, world_size); !status.ok()) return status;
  if (options.mode == Mode::pipeline) {
    if (const Status status = check_pipeline(options, world_size); !status.ok()) return status;
  }
  if (const Status status = check_device(options); !status.ok()) return status;
  if (options.ddp.find_unused_parameters && options.training.activation_checkpointing)
    return Error{
        "--find-unused-parameters looks for them in the graph of the whole forward pass, which "
        "--activation-checkpointing does not keep: leave one of them out"};
  if (options.slow.rank >= world_size) {
    return Error{
        fmt::format("--slow-rank {}: the job's ranks are 0 to {}", options.slow.rank, world_size - 1)};
  }
  const int stages = options.mode == Mode::pipeline ? pipeline_shape(options, world_size).stages : 1;
  for (const Fault& fault : options.faults) {
    if (const Status status = check_fault(fault, world_size, stages); !status.ok()) return status;
    if (fault.first_step > options.training.steps)
      return Error{fmt::format("--fault {}: it begins in step {}, and --steps {} end before: give more steps",
                               to_string(fault), fault.first_step, options.training.steps)};
  }
  return {};
}

const char* to_string(Mode mode) {
  switch (mode) {
    case Mode::single:
      return "single";
    case Mode::ddp:
      return "ddp";
    case Mode::fsdp:
      return "fsdp";
    case Mode::zero1:
      return "zero1";
    case Mode::zero2:
      return "zero2";
    case Mode::zero3:
      return "zero3";
    case Mode::pipeline:
      return "pipeline";
  }
  return "";
}

const char* to_string(Architecture architecture) {
  return architecture == Architecture::llama ? "llama" : "gpt2";
}

const char* to_string(Precision precision) {
  switch (precision) {
    case Precision::float32:
      return "float32";
    case Precision::float64:
      return "float64";
    case Precision::bfloat16:
      return "bfloat16";
  }
  return "";
}

const char* to_string(Device device) {
  switch (device) {
    case Device::cpu:
      return "cpu";
    case Device::paced:
      return "paced";
    case Device::cuda:
      return "cuda";
  }
  return "";
}

const char* to_string(Transport transport) {
  switch (transport) {
    case Transport::automatic:
      return "automatic";
    case Transport::gloo:
      return "gloo";
    case Transport::nccl:
      return "nccl";
  }
  return "";
}

Transport transport_of(const Options& options, int local_ranks, int gpus) {
  if (options.transport != Transport::automatic) return options.transport;
  return local_ranks <= gpus && options.mode != Mode::pipeline ? Transport::nccl : Transport::gloo;
}

}  // namespace lockstep::trainer
