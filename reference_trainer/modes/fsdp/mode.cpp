#include "reference_trainer/modes/fsdp/mode.h"

#include <nlohmann/json.hpp>

#include "reference_trainer/modes/fsdp/options.h"
#include "reference_trainer/options/flag_kinds.h"

namespace lockstep::trainer {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHeading = "Fully sharded (--mode fsdp)";

void add_flags(CLI::App& app, Options& options) {
  FsdpOptions& fsdp = options.own.get<FsdpOptions>();
  add_choice(app, "--sharding-strategy", "What is sharded, and over which ranks",
             {{"full_shard", ShardingStrategy::full_shard},
              {"shard_grad_op", ShardingStrategy::shard_grad_op},
              {"no_shard", ShardingStrategy::no_shard},
              {"hybrid_shard", ShardingStrategy::hybrid_shard}},
             "full_shard", kHeading, fsdp.strategy);
  app.add_option("--shard-size", fsdp.shard_size,
                 "hybrid_shard: ranks that share one copy of the model (default: those of a node)")
      ->check(whole_number(1, kMillion))
      ->type_name("N")
      ->group(kHeading);
  app.add_option("--unit-parameters", fsdp.unit_parameters,
                 "Join layers until a unit has so many parameters (default: a unit per layer)")
      ->check(whole_number(1, 1000 * kMillion * kMillion))
      ->type_name("N")
      ->group(kHeading);
  add_choice(
      app, "--backward-prefetch", "When backward gathers the next unit: before or after this one's",
      {{"pre", BackwardPrefetch::pre}, {"post", BackwardPrefetch::post}, {"none", BackwardPrefetch::none}},
      "pre", kHeading, fsdp.backward_prefetch);
  app.add_flag("--forward-prefetch", fsdp.forward_prefetch, "Forward gathers the next unit before this one's")
      ->group(kHeading);
  add_switch_off(app, "--no-limit-all-gathers",
                 "Gather without regard to how many units given up are not yet free (usually at most two)",
                 fsdp.limit_all_gathers)
      ->group(kHeading);
  app.add_flag("--reduce-in-float32", fsdp.reduce_in_float32,
               "With --dtype bfloat16: what gradients are reduced in")
      ->group(kHeading);
  app.add_flag("--cpu-offload", fsdp.cpu_offload, "Shards live in the host's memory between uses")
      ->group(kHeading);
}

Status check(const Options& options, int world_size) {
  const FsdpOptions& fsdp = options.own.get<FsdpOptions>();
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

void write_flags(const Options& options, int /*world_size*/, Json& flags) {
  const FsdpOptions& fsdp = options.own.get<FsdpOptions>();
  flags["sharding_strategy"] = name_of(fsdp.strategy);
  if (fsdp.shard_size > 0) flags["shard_size"] = fsdp.shard_size;
  if (fsdp.unit_parameters > 0) flags["unit_parameters"] = fsdp.unit_parameters;
  flags["backward_prefetch"] = name_of(fsdp.backward_prefetch);
  flags["forward_prefetch"] = fsdp.forward_prefetch;
  flags["no_limit_all_gathers"] = !fsdp.limit_all_gathers;
  flags["reduce_in_float32"] = fsdp.reduce_in_float32;
  flags["cpu_offload"] = fsdp.cpu_offload;
}

constinit const ModeFlags kFlags{.heading = kHeading, .add = add_flags};

}  // namespace

constinit const Mode Fsdp::mode{
    .name = "fsdp", .flags = &kFlags, .shards = true, .check = check, .write_flags = write_flags};

}  // namespace lockstep::trainer
