#include <algorithm>

#include "reference_trainer/options/flags.h"

namespace lockstep::trainer {
namespace {

constexpr double kBytesPerMegabyte = 1024.0 * 1024.0;
constexpr double kLargestMegabytes = 1024.0 * 1024.0;

// In MiB for people, in bytes for the Reducer.
void add_megabytes(CLI::App& app, const char* flag, const char* help, double usual, std::int64_t& bytes) {
  const auto to_bytes = [](double megabytes) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(megabytes * kBytesPerMegabyte));
  };
  bytes = to_bytes(usual);
  app.add_option_function<double>(
         flag, [&bytes, to_bytes](const double& megabytes) { bytes = to_bytes(megabytes); }, help)
      ->check(number(false, kLargestMegabytes))
      ->type_name("MIB")
      ->default_str(fmt::format("{}", usual))
      ->group(kDdpGroup);
}

CLI::Option* add_switch_off(CLI::App& app, const char* flag, const char* help, bool& value) {
  return app.add_flag_callback(
      flag, [&value] { value = false; }, help);
}

}  // namespace

void add_ddp_flags(CLI::App& app, DdpOptions& ddp) {
  add_megabytes(app, "--bucket-cap-mb",
                "Size (MiB) at which a gradient bucket is closed; PyTorch's default is 25", 4, ddp.cap_bytes);
  add_megabytes(app, "--first-bucket-mb", "The same for the first bucket, which starts communication early",
                1, ddp.first_bytes);
  add_switch_off(app, "--no-gradient-as-bucket-view", "Gradients are copied back out of the buckets",
                 ddp.gradient_as_bucket_view)
      ->group(kDdpGroup);
  app.add_flag("--find-unused-parameters", ddp.find_unused_parameters,
               "Look for parameters without a gradient before each backward; buckets are never rebuilt")
      ->group(kDdpGroup);
}

void add_fsdp_flags(CLI::App& app, FsdpOptions& fsdp) {
  add_choice(app, "--sharding-strategy", "What is sharded, and over which ranks",
             {{"full_shard", ShardingStrategy::full_shard},
              {"shard_grad_op", ShardingStrategy::shard_grad_op},
              {"no_shard", ShardingStrategy::no_shard},
              {"hybrid_shard", ShardingStrategy::hybrid_shard}},
             "full_shard", kFsdpGroup, fsdp.strategy);
  app.add_option("--shard-size", fsdp.shard_size,
                 "hybrid_shard: ranks that share one copy of the model (default: those of a node)")
      ->check(whole_number(1, kMillion))
      ->type_name("N")
      ->group(kFsdpGroup);
  app.add_option("--unit-parameters", fsdp.unit_parameters,
                 "Join layers until a unit has so many parameters (default: a unit per layer)")
      ->check(whole_number(1, 1000 * kMillion * kMillion))
      ->type_name("N")
      ->group(kFsdpGroup);
  add_choice(
      app, "--backward-prefetch", "When backward gathers the next unit: before or after this one's",
      {{"pre", BackwardPrefetch::pre}, {"post", BackwardPrefetch::post}, {"none", BackwardPrefetch::none}},
      "pre", kFsdpGroup, fsdp.backward_prefetch);
  app.add_flag("--forward-prefetch", fsdp.forward_prefetch, "Forward gathers the next unit before this one's")
      ->group(kFsdpGroup);
  add_switch_off(app, "--no-limit-all-gathers",
                 "Gather without regard to how many units given up are not yet free (usually at most two)",
                 fsdp.limit_all_gathers)
      ->group(kFsdpGroup);
  app.add_flag("--reduce-in-float32", fsdp.reduce_in_float32,
               "With --dtype bfloat16: what gradients are reduced in")
      ->group(kFsdpGroup);
  app.add_flag("--cpu-offload", fsdp.cpu_offload, "Shards live in the host's memory between uses")
      ->group(kFsdpGroup);
}

std::vector<Mode> modes_of_group(const std::string& group) {
  if (group == kDdpGroup) return {Mode::ddp};
  if (group == kFsdpGroup) return {Mode::fsdp};
  if (group == kZeroGroup) return {Mode::zero1, Mode::zero2, Mode::zero3};
  if (group == kPipelineGroup) return {Mode::pipeline};
  return {};
}

void add_teaching_flags(CLI::App& app, Options& options) {
  const char* group = "Teaching aids";
  CLI::Option* const rank =
      app.add_option("--slow-rank", options.slow.rank,
                     "This rank computes every layer's forward several times: a real straggler")
          ->check(whole_number(0, kMillion))
          ->type_name("RANK")
          ->group(group);
  app.add_option("--slow-factor", options.slow.factor, "How many times (default 2)")
      ->check(whole_number(1, 1000))
      ->type_name("N")
      ->needs(rank)
      ->group(group);
}

}  // namespace lockstep::trainer
