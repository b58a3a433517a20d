#include <fmt/format.h>

#include "reference_trainer/command_line/command_line.h"
#include "reference_trainer/model/llama_shape.h"
#include "reference_trainer/options/mode.h"

namespace lockstep::trainer {
namespace {

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
  if (cuda && !options.mode->can_use_nccl && options.transport == Transport::nccl)
    return Error{
        fmt::format("--mode {} sends over Gloo on --device cuda: give --backend gloo, or leave it out",
                    options.mode->name)};
  for (const Fault& fault : options.faults) {
    if (cuda && (fault.kind == FaultKind::skip_collective || fault.kind == FaultKind::slow_link))
      return Error{fmt::format("--fault {}: is planted in the CPU's Gloo, and this is --device cuda",
                               to_string(fault.kind))};
  }
  return {};
}

}  // namespace

Status check_options(const Options& options, int world_size) {
  if (const Status status = check_model(options.model); !status.ok()) return status;
  const Mode& mode = *options.mode;
  if (mode.shards && world_size == 1)
    return Error{fmt::format("--mode {}: one rank has nobody to share with; give --ranks N", mode.name)};
  if (mode.check) {
    if (const Status status = mode.check(options, world_size); !status.ok()) return status;
  }
  if (const Status status = check_device(options); !status.ok()) return status;
  if (options.slow.rank >= world_size) {
    return Error{
        fmt::format("--slow-rank {}: the job's ranks are 0 to {}", options.slow.rank, world_size - 1)};
  }
  const int stages = mode.place(options, world_size, 0).stages;
  for (const Fault& fault : options.faults) {
    if (const Status status = check_fault(fault, world_size, stages); !status.ok()) return status;
    if (fault.first_step > options.training.steps)
      return Error{fmt::format("--fault {}: it begins in step {}, and --steps {} end before: give more steps",
                               to_string(fault), fault.first_step, options.training.steps)};
  }
  return {};
}

}  // namespace lockstep::trainer
