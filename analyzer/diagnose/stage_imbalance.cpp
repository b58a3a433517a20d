#include "analyzer/diagnose/stage_imbalance.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/diagnose/host_shortage.h"
#include "analyzer/intervals/median.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// Half of what the others' threads ran: on cores that are short, healthy stages ran a quarter longer.
constexpr std::int64_t kOfOthers = 2;

// Which stages of its pipeline a rank runs, and for how long in a step their passes compute.
struct StagesOfRank {
  std::vector<std::int32_t> stages;  // ascending
  std::size_t layers = 0;
  std::int64_t compute_ns = 0;
};

std::map<std::int32_t, StagesOfRank> stages_by_rank(const PipelineReport& pipeline) {
  std::map<std::int32_t, StagesOfRank> by_rank;
  for (const PipelineStage& stage : pipeline.stages_detail) {
    StagesOfRank& of_rank = by_rank[stage.rank];
    of_rank.stages.push_back(stage.stage);
    of_rank.layers += stage.layers.size();
    of_rank.compute_ns = saturating_add(of_rank.compute_ns, stage.compute_ns);
  }
  for (auto& [rank, of_rank] : by_rank) {
    std::sort(of_rank.stages.begin(), of_rank.stages.end());
    of_rank.compute_ns /= std::max<std::int64_t>(1, pipeline.steps);
  }
  return by_rank;
}

// The pipeline that the rank runs a stage of, among others; passes are known. Empty: there is none.
std::map<std::int32_t, StagesOfRank> pipeline_of(const Report& report, std::int32_t rank) {
  for (const PipelineReport& pipeline : report.pipeline) {
    if (!pipeline.passes_known) continue;
    std::map<std::int32_t, StagesOfRank> by_rank = stages_by_rank(pipeline);
    if (by_rank.size() > 1 && by_rank.contains(rank)) return by_rank;
  }
  return {};
}

std::int64_t median_of_others(const std::map<std::int32_t, StagesOfRank>& by_rank, std::int32_t rank) {
  std::vector<std::int64_t> others;
  for (const auto& [other, stages] : by_rank)
    if (other != rank) others.push_back(stages.compute_ns);
  return lower_median(std::move(others));
}

// Nothing where a rank runs several stages: then nobody knows for which of them it ran.
std::optional<RunTimes> run_times_of_stages(const Report& report, const PipelineReport& pipeline,
                                            std::int32_t rank) {
  std::set<std::int32_t> ranks;
  for (const PipelineStage& stage : pipeline.stages_detail) ranks.insert(stage.rank);
  if (ranks.size() != pipeline.stages_detail.size()) return std::nullopt;
  return run_times(report, ranks, rank);
}

}  // namespace

std::int64_t median_compute(const PipelineReport& pipeline) {
  std::vector<std::int64_t> compute;
  for (const PipelineStage& stage : pipeline.stages_detail) compute.push_back(stage.compute_ns);
  return lower_median(std::move(compute));
}

bool computes_too_much(std::int64_t compute_ns, std::int64_t median_ns) {
  return static_cast<double>(compute_ns) >= kUnbalancedStage * static_cast<double>(median_ns);
}

std::int64_t waited_for_a_core(const Report& report, std::int32_t number) {
  for (const RankReport& rank : report.ranks)
    if (rank.rank == number) return rank.measures.run_queue_ns.value_or(0);
  return 0;
}

std::optional<RunTimes> run_times(const Report& report, const std::set<std::int32_t>& ranks,
                                  std::int32_t rank) {
  std::optional<std::int64_t> own;
  std::vector<std::int64_t> others;
  for (const RankReport& one : report.ranks) {
    if (!ranks.contains(one.rank)) continue;
    if (!one.measures.on_core_ns) return std::nullopt;
    if (one.rank == rank)
      own = one.measures.on_core_ns;
    else
      others.push_back(*one.measures.on_core_ns);
  }
  if (!own || others.empty()) return std::nullopt;
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::nth_element(others.begin(), middle, others.end());
  return RunTimes{*own, *middle};
}

namespace {

// Of a stage that computes up to half as long again, on a CPU that other programs use as well, and that has
// no more layers: processes differ by as much there with the same work. Where its threads run half as long
// again, which no waiting for a core does, two fifths are enough.
bool may_be_a_slow_process(const Report& report, const PipelineReport& pipeline,
                           const StageImbalance& imbalance, const std::optional<RunTimes>& ran) {
  constexpr double kMuch = 1.5, kMuchOfWhatRan = 1.4;
  const bool ran_longer = ran && kOfOthers * ran->longer_ns() >= ran->others_ns;
  if (static_cast<double>(imbalance.stage->compute_ns) >=
      (ran_longer ? kMuchOfWhatRan : kMuch) * static_cast<double>(imbalance.median_ns))
    return false;
  const bool has_more_layers = std::ranges::any_of(pipeline.stages_detail, [&](const PipelineStage& other) {
    return other.layers.size() < imbalance.stage->layers.size();
  });
  if (has_more_layers) return false;
  return std::ranges::any_of(pipeline.stages_detail, [&](const PipelineStage& stage) {
    const auto rank = std::ranges::find(report.ranks, stage.rank, &RankReport::rank);
    return rank != report.ranks.end() && rank->device == "cpu" &&
           is_beside_others(rank->measures.run_queue_ns.value_or(0), rank->measures.window_ns);
  });
}

}  // namespace

std::optional<StageImbalance> stage_imbalance_of(const Report& report, const PipelineReport& pipeline) {
  if (pipeline.stages_detail.size() < 2 || !pipeline.bubble_ratio || !pipeline.passes_known)
    return std::nullopt;
  StageImbalance result;
  result.stage = &pipeline.stages_detail.front();
  for (const PipelineStage& stage : pipeline.stages_detail)
    if (stage.compute_ns > result.stage->compute_ns) result.stage = &stage;
  result.median_ns = median_compute(pipeline);
  if (!computes_too_much(result.stage->compute_ns, result.median_ns)) return std::nullopt;
  const std::optional<RunTimes> ran = run_times_of_stages(report, pipeline, result.stage->rank);
  if (may_be_a_slow_process(report, pipeline, result, ran)) return std::nullopt;
  const std::int64_t excess_ns = result.stage->compute_ns - result.median_ns;
  std::int64_t most_of_each = std::numeric_limits<std::int64_t>::max();
  if (excess_ns <= waited_for_a_core(report, result.stage->rank)) {
    result.ran = ran;
    if (!result.ran || 2 * result.ran->longer_ns() < excess_ns ||
        kOfOthers * result.ran->longer_ns() < result.ran->others_ns)
      return std::nullopt;
    most_of_each = result.ran->longer_ns();
  }
  for (const PipelineStage& stage : pipeline.stages_detail)
    result.lost_ns =
        saturating_add(result.lost_ns, std::min(result.stage->compute_ns - stage.compute_ns, most_of_each));
  result.lost_ns = std::min(result.lost_ns, pipeline.bubble_ns);
  return result;
}

std::optional<std::int64_t> layer_time(const Report& report, std::int32_t rank, bool on_rank) {
  std::vector<std::int64_t> times;
  for (const LayerReport& layer : report.layers) {
    if (!layer.layer || !layer.forward) continue;
    const bool there = std::find(layer.ranks.begin(), layer.ranks.end(), rank) != layer.ranks.end();
    if (there == on_rank) times.push_back(layer.forward->microbatch_ns);
  }
  if (times.empty()) return std::nullopt;
  return lower_median(std::move(times));
}

bool has_slower_layers(const Report& report, std::int32_t rank) {
  const std::map<std::int32_t, StagesOfRank> by_rank = pipeline_of(report, rank);
  if (by_rank.empty()) return false;
  const StagesOfRank& own = by_rank.at(rank);
  const bool as_many = std::all_of(by_rank.begin(), by_rank.end(),
                                   [&](const auto& other) { return other.second.layers == own.layers; });
  const std::optional<std::int64_t> on_rank = layer_time(report, rank, true),
                                    elsewhere = layer_time(report, rank, false);
  const std::int64_t median_ns = median_of_others(by_rank, rank);
  if (own.layers == 0 || !as_many || !on_rank || !elsewhere || *elsewhere <= 0 || median_ns <= 0)
    return false;
  const auto excess = [](std::int64_t time, std::int64_t usual) {
    return static_cast<double>(time - usual) / static_cast<double>(usual);
  };
  return 2 * excess(*on_rank, *elsewhere) >= excess(own.compute_ns, median_ns);
}

std::int64_t longer_as_its_stage(const Report& report, std::int32_t rank) {
  const std::map<std::int32_t, StagesOfRank> by_rank = pipeline_of(report, rank);
  if (by_rank.empty() || has_slower_layers(report, rank)) return 0;
  const StagesOfRank& own = by_rank.at(rank);
  std::vector<std::int64_t> replicas;
  for (const PipelineReport& pipeline : report.pipeline)
    for (const auto& [other, stages] : stages_by_rank(pipeline))
      if (!by_rank.contains(other) && stages.stages == own.stages) replicas.push_back(stages.compute_ns);
  const std::int64_t as_stage =
      replicas.empty() ? own.compute_ns : std::min(own.compute_ns, lower_median(std::move(replicas)));
  return std::max<std::int64_t>(0, as_stage - median_of_others(by_rank, rank));
}

}  // namespace lockstep::analyzer
