#include "analyzer/diagnose/outside_passes.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/diagnose/stage_imbalance.h"
#include "analyzer/metrics/pipeline_regions.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kLeastPercent = 5;

bool is_pass(Pass pass) {
  return pass == Pass::forward || pass == Pass::backward || pass == Pass::recompute;
}

std::set<std::int32_t> stages_with_passes(const Report& report) {
  std::set<std::int32_t> ranks;
  for (const PipelineReport& pipeline : report.pipeline)
    if (pipeline.passes_known)
      for (const PipelineStage& stage : pipeline.stages_detail) ranks.insert(stage.rank);
  return ranks;
}

// The upper one: of two others the one that does more.
std::int64_t median_of_others(const std::map<std::int32_t, std::int64_t>& of_ranks, std::int32_t rank) {
  std::vector<std::int64_t> others;
  for (const auto& [other, ns] : of_ranks)
    if (other != rank) others.push_back(ns);
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::nth_element(others.begin(), middle, others.end());
  return *middle;
}

}  // namespace

std::map<std::int32_t, IntervalSet> computed_outside_passes(const Job& job, const Report& report) {
  const std::set<std::int32_t> ranks = stages_with_passes(report);
  std::map<std::int32_t, IntervalSet> times;
  if (ranks.size() < 2) return times;
  std::map<std::int64_t, std::map<std::int32_t, std::int64_t>> by_step;
  std::int64_t steps_ns = 0, steps = 0;
  for (const RankTrace& rank : job.ranks) {
    if (!ranks.contains(rank.rank)) continue;
    for (const StepMark& step : rank.steps) {
      by_step[step.number][rank.rank] += 0;
      steps_ns = saturating_add(steps_ns, step.end - step.begin);
      ++steps;
    }
    std::vector<Interval> outside;
    for (const Activity& activity : rank.activities) {
      if (activity.activity_class != Class::compute || is_pass(computation_of(rank, activity).pass)) continue;
      outside.push_back({activity.begin, activity.end});
      if (const auto step = step_number(rank, activity))
        by_step[*step][rank.rank] += activity.end - activity.begin;
    }
    times[rank.rank] = IntervalSet::from(std::move(outside));
  }
  std::map<std::int32_t, std::int64_t> excess;
  std::int64_t whole = 0;
  for (const auto& [number, of_ranks] : by_step) {
    if (of_ranks.size() != ranks.size()) continue;
    ++whole;
    for (const auto& [rank, ns] : of_ranks)
      excess[rank] = saturating_add(excess[rank], ns - median_of_others(of_ranks, rank));
  }
  if (steps == 0 || whole == 0) return {};
  const std::int64_t least = steps_ns / steps * kLeastPercent / 100;
  std::erase_if(times, [&](const auto& one) {
    const std::int64_t sum = excess[one.first];
    if (sum / whole < least) return true;
    // By more than it waits for a core, or its threads have run longer than the others'.
    if (sum > waited_for_a_core(report, one.first)) return false;
    const std::optional<RunTimes> ran = run_times(report, ranks, one.first);
    return !ran || 2 * ran->longer_ns() < sum;
  });
  return times;
}

}  // namespace lockstep::analyzer
