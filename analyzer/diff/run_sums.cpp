#include "analyzer/diff/run_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/report/whole_run.h"

namespace lockstep::analyzer {
namespace {

// Fewer steps than this a block say little about what a block's mean varies by.
constexpr std::int64_t kLeastStepsOfBlock = 2, kMaxBlocks = 10;

using Steps = std::span<const StepReport>;

std::set<std::int64_t> numbers_of(const Report& report, Steps steps) {
  if (report.steady) return {report.steady->steps.begin(), report.steady->steps.end()};
  std::set<std::int64_t> numbers;
  for (const StepReport& step : steps) numbers.insert(step.step);
  return numbers;
}

// Which block each step belongs to: as many in each as can be.
std::map<std::int64_t, std::size_t> blocks_of(const std::set<std::int64_t>& steps, RunSums& run) {
  const auto count = static_cast<std::int64_t>(steps.size());
  const std::int64_t blocks = std::clamp<std::int64_t>(count / kLeastStepsOfBlock, 1, kMaxBlocks);
  run.blocks.assign(static_cast<std::size_t>(blocks), 0);
  std::map<std::int64_t, std::size_t> block_of;
  std::int64_t index = 0;
  for (const std::int64_t step : steps) {
    const auto block = static_cast<std::size_t>(index++ * blocks / count);
    block_of.emplace(step, block);
    ++run.blocks[block];
  }
  return block_of;
}

void add(Partition& sum, const Partition& part) {
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) sum.ns[cause] += part.ns[cause];
}

void sum_ranks(const Report& report, Steps steps, const std::map<std::int64_t, std::size_t>& block_of,
               RunSums& run) {
  std::map<std::int32_t, RankSums> ranks;
  std::set<std::int32_t> unknown;
  for (const StepReport& step : steps) {
    const auto block = block_of.find(step.step);
    if (block == block_of.end()) continue;
    ++run.rank_steps;
    const Measures& measures = step.measures;
    if (!measures.known) {
      unknown.insert(step.rank);
      continue;
    }
    RankSums& rank = ranks[step.rank];
    rank.blocks.resize(run.blocks.size());
    ++rank.steps;
    add(rank.parts, measures.partition);
    add(rank.blocks[block->second], measures.partition);
    rank.exposed_ns += measures.exposed_communication_ns;
    rank.compute_ns += measures.compute_ns;
    run.waits_known = run.waits_known && measures.waits_known;
  }
  for (const RankReport& rank : report.ranks) {
    const auto found = ranks.find(rank.rank);
    if (found == ranks.end()) {
      unknown.insert(rank.rank);
      continue;
    }
    found->second.host = rank.host;
    found->second.device = rank.device;
  }
  // A rank part of whose steps are lost would count with the others alone.
  for (auto& [number, rank] : ranks) {
    if (unknown.contains(number)) continue;
    rank.rank = number;
    run.ranks.push_back(std::move(rank));
  }
  run.unknown.assign(unknown.begin(), unknown.end());
}

void sum_collectives(const Report& report, RunSums& run) {
  for (const BucketReport& bucket : report.buckets) {
    CollectiveSums& sums =
        run.collectives[{bucket.group_name, bucket.operation, bucket.name, bucket.position}];
    sums.operations += bucket.count;
    if (!sums.bytes) sums.bytes = bucket.bytes;
    sums.transfer_ns += bucket.exposed_transfer_ns.value_or(0);
    sums.wait_ns += bucket.exposed_wait_ns.value_or(0);
  }
}

void sum_layers(const Report& report, RunSums& run) {
  for (const LayerReport& layer : report.layers) {
    std::uint8_t number = 0;
    for (const auto& pass : {layer.forward, layer.backward, layer.recompute}) {
      if (pass) run.layers[{layer.layer, layer.part, number}] += pass->total_ns;
      ++number;
    }
  }
}

}  // namespace

const char* name_of_pass(std::uint8_t pass) {
  constexpr std::array kNames{"forward", "backward", "recompute"};
  return kNames[pass];
}

Status check_different(std::span<const RunSums* const> runs) {
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (runs[i]->start_ns && runs[i]->start_ns == runs[k]->start_ns)
        return Error{
            fmt::format("{} and {} are the same run: give different ones", runs[k]->path, runs[i]->path)};
  return {};
}

Result<RunSums> run_sums(const Report& report) {
  return run_sums(report, report.steps);
}

Result<RunSums> run_sums(const Report& report, Steps steps) {
  RunSums run;
  run.path = report.path;
  run.start_ns = report.origin_ns;
  run.world_size = report.world_size;
  const std::set<std::int64_t> numbers = numbers_of(report, steps);
  if (numbers.empty())
    return Error{
        fmt::format("{} marks no steps, and steps are what is compared: see `lockstep explain "
                    "no_steps` for how to mark them",
                    report.path)};
  run.steps = static_cast<std::int64_t>(numbers.size());
  sum_ranks(report, steps, blocks_of(numbers, run), run);
  if (run.ranks.empty())
    return Error{fmt::format("{}: of no rank is it known what it did in its steps", report.path)};
  sum_collectives(report, run);
  sum_layers(report, run);
  run.phases = report.account.spent;
  run.account_ranks = static_cast<std::int64_t>(report.account.ranks.size());
  run.failure = why_not_whole(report);
  return run;
}

}  // namespace lockstep::analyzer
