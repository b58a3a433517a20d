#include "reference_trainer/logging/configuration.h"

#include "reference_trainer/model/llama_shape.h"
#include "reference_trainer/options/mode.h"

namespace lockstep::trainer {
namespace {

using Json = nlohmann::ordered_json;

void add_model(const ModelOptions& model, Json& flags) {
  flags["model"] = to_string(model.architecture);
  flags["layers"] = model.layers;
  flags["hidden"] = model.hidden;
  flags["heads"] = model.heads;
  if (model.architecture == Architecture::llama) {
    const auto shape = llama_shape(model.hidden, model.heads, model.kv_heads, model.intermediate_size);
    flags["kv_heads"] = shape.ok() ? shape.value().kv_heads : model.kv_heads;
    flags["intermediate_size"] = shape.ok() ? shape.value().intermediate : model.intermediate_size;
  }
  flags["sequence_length"] = model.sequence_length;
  flags["dtype"] = to_string(model.precision);
}

void add_training(const TrainingOptions& training, Json& flags) {
  flags["steps"] = training.steps;
  flags["batch_size"] = training.batch_size;
  flags["gradient_accumulation"] = training.gradient_accumulation;
  flags["learning_rate"] = training.learning_rate;
  flags["clip_grad_norm"] = training.clip_grad_norm;
  flags["seed"] = training.seed;
  flags["activation_checkpointing"] = training.activation_checkpointing;
}

// Zero says "none" of each of these, and is no value that the flag takes.
void add_pace(const PaceOptions& pace, Json& flags) {
  flags["flops"] = pace.flops_per_second;
  flags["jitter"] = pace.jitter;
  if (pace.bytes_per_second > 0) flags["bandwidth"] = pace.bytes_per_second;
  flags["latency"] = pace.latency_us;
}

}  // namespace

Json flags_of(const Options& options, int world_size) {
  Json flags{{"ranks", world_size}, {"mode", options.mode->name}};
  add_model(options.model, flags);
  add_training(options.training, flags);
  if (options.mode->write_flags) options.mode->write_flags(options, world_size, flags);
  flags["device"] = to_string(options.device);
  if (options.transport != Transport::automatic) flags["backend"] = to_string(options.transport);
  flags["threads"] = options.threads;
  flags["timeout"] = options.timeout_seconds;
  if (options.device == Device::paced) add_pace(options.pace, flags);
  if (!options.data.empty()) flags["data"] = options.data;
  if (!options.faults.empty()) {
    Json& faults = flags["fault"] = Json::array();
    for (const Fault& fault : options.faults) faults.push_back(to_string(fault));
  }
  return flags;
}

Json deepspeed_of(const Options& options) {
  return options.mode->deepspeed == nullptr ? Json() : options.mode->deepspeed(options);
}

}  // namespace lockstep::trainer
