#include "reference_trainer/logging/configuration.h"

#include "reference_trainer/model/llama_shape.h"
#include "reference_trainer/pipeline/layout.h"

namespace lockstep::trainer {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kBytesPerMebibyte = 1024.0 * 1024.0;

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

void add_ddp(const DdpOptions& ddp, Json& flags) {
  // A division by a power of two, so that the same bytes come of it again.
  flags["first_bucket_mb"] = static_cast<double>(ddp.first_bytes) / kBytesPerMebibyte;
  flags["bucket_cap_mb"] = static_cast<double>(ddp.cap_bytes) / kBytesPerMebibyte;
  flags["no_gradient_as_bucket_view"] = !ddp.gradient_as_bucket_view;
  flags["find_unused_parameters"] = ddp.find_unused_parameters;
}

const char* name_of(ShardingStrategy strategy) {
  switch (strategy) {
    case ShardingStrategy::full_shard:
      return "full_shard";
    case ShardingStrategy::shard_grad_op:
      return "shard_grad_op";
    case ShardingStrategy::no_shard:
      return "no_shard";
    case ShardingStrategy::hybrid_shard:
      return "hybrid_shard";
  }
  return "";
}

const char* name_of(BackwardPrefetch prefetch) {
  switch (prefetch) {
    case BackwardPrefetch::none:
      return "none";
    case BackwardPrefetch::pre:
      return "pre";
    case BackwardPrefetch::post:
      return "post";
  }
  return "";
}

void add_fsdp(const FsdpOptions& fsdp, Json& flags) {
  flags["sharding_strategy"] = name_of(fsdp.strategy);
  if (fsdp.shard_size > 0) flags["shard_size"] = fsdp.shard_size;
  if (fsdp.unit_parameters > 0) flags["unit_parameters"] = fsdp.unit_parameters;
  flags["backward_prefetch"] = name_of(fsdp.backward_prefetch);
  flags["forward_prefetch"] = fsdp.forward_prefetch;
  flags["no_limit_all_gathers"] = !fsdp.limit_all_gathers;
  flags["reduce_in_float32"] = fsdp.reduce_in_float32;
  flags["cpu_offload"] = fsdp.cpu_offload;
}

void add_pipeline(const Options& options, int world_size, Json& flags) {
  const PipelineShape shape = pipeline_shape(options, world_size);
  flags["pipeline_stages"] = shape.stages;
  flags["schedule"] = to_string(shape.schedule);
  flags["chunks"] = shape.chunks;
  flags["overlap_p2p_communication"] = options.pipeline.overlap_p2p;
}

// Zero says "none" of each of these, and is no value that the flag takes.
void add_pace(const PaceOptions& pace, Json& flags) {
  flags["flops"] = pace.flops_per_second;
  flags["jitter"] = pace.jitter;
  if (pace.bytes_per_second > 0) flags["bandwidth"] = pace.bytes_per_second;
  flags["latency"] = pace.latency_us;
}

Json offload_of(const OffloadOptions& offload) {
  switch (offload.device) {
    case OffloadDevice::none:
      break;
    case OffloadDevice::cpu:
      return {{"device", "cpu"}};
    case OffloadDevice::nvme:
      return {{"device", "nvme"}, {"nvme_path", offload.nvme_path}};
  }
  return {{"device", "none"}};
}

}  // namespace

Json flags_of(const Options& options, int world_size) {
  Json flags{{"ranks", world_size}, {"mode", to_string(options.mode)}};
  add_model(options.model, flags);
  add_training(options.training, flags);
  if (options.mode == Mode::ddp) add_ddp(options.ddp, flags);
  if (options.mode == Mode::fsdp) add_fsdp(options.fsdp, flags);
  if (options.mode == Mode::pipeline) add_pipeline(options, world_size, flags);
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
  if (zero_stage(options.mode) == 0) return nullptr;
  const ZeroOptions& zero = options.zero;
  Json section{{"stage", zero.stage},
               {"overlap_comm", zero.overlap_comm},
               {"contiguous_gradients", zero.contiguous_gradients},
               {"reduce_scatter", zero.reduce_scatter},
               {"reduce_bucket_size", zero.reduce_bucket_size}};
  // Keys without effect at a stage are left out: the trainer would warn of them.
  if (zero.stage < 3) {
    section["allgather_bucket_size"] = zero.allgather_bucket_size;
  } else {
    section["sub_group_size"] = zero.sub_group_size;
    section["stage3_prefetch_bucket_size"] = zero.prefetch_bucket_size;
    section["stage3_param_persistence_threshold"] = zero.param_persistence_threshold;
    section["stage3_max_live_parameters"] = zero.max_live_parameters;
    section["stage3_max_reuse_distance"] = zero.max_reuse_distance;
    section["offload_param"] = offload_of(zero.offload_param);
  }
  section["offload_optimizer"] = offload_of(zero.offload_optimizer);
  return {{"zero_optimization", section}};
}

}  // namespace lockstep::trainer
