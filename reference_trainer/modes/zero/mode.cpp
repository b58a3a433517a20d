#include "reference_trainer/modes/zero/mode.h"

#include <nlohmann/json.hpp>

#include "reference_trainer/modes/zero/deepspeed_flags.h"
#include "reference_trainer/modes/zero/options.h"

namespace lockstep::trainer {
namespace {

using Json = nlohmann::ordered_json;

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

Json deepspeed(const Options& options) {
  const ZeroOptions& zero = options.own.get<DeepSpeedOptions>().zero;
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

constinit const ModeFlags kFlags{
    .heading = kZeroHeading, .add = add_deepspeed_flag, .apply = apply_deepspeed};

constexpr Mode stage(const char* name) {
  return {
      .name = name, .flags = &kFlags, .shards = true, .settle = settle_batch_sizes, .deepspeed = deepspeed};
}

}  // namespace

constinit const Mode Zero1::mode = stage("zero1");
constinit const Mode Zero2::mode = stage("zero2");
constinit const Mode Zero3::mode = stage("zero3");

}  // namespace lockstep::trainer
