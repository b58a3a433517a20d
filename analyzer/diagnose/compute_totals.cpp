#include "analyzer/diagnose/compute_totals.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analyzer/intervals/median.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

using TimeByName = std::unordered_map<std::uint32_t, std::int64_t>;

TimeByName time_by_name(const RankTrace& rank, const StepTable& steps) {
  TimeByName times;
  for (const Activity& activity : rank.activities) {
    if (activity.activity_class != Class::compute || activity.step >= rank.steps.size()) continue;
    if (!std::binary_search(steps.steps.begin(), steps.steps.end(), rank.steps[activity.step].number))
      continue;
    std::int64_t& sum = times[activity.name];
    sum = saturating_add(sum, activity.end - activity.begin);
  }
  return times;
}

}  // namespace

std::vector<ComputeExcess> computations_by_excess(const Job& job, const StepTable& steps, std::int32_t rank) {
  if (steps.steps.empty() || steps.rank_count() < 2) return {};
  const auto count = static_cast<std::int64_t>(steps.steps.size());
  TimeByName own;
  std::unordered_map<std::uint32_t, std::vector<std::int64_t>> others;
  for (const RankTrace& trace : job.ranks) {
    if (!std::binary_search(steps.ranks.begin(), steps.ranks.end(), trace.rank)) continue;
    TimeByName times = time_by_name(trace, steps);
    if (trace.rank == rank) {
      own = std::move(times);
      continue;
    }
    for (const auto& [name, ns] : times) others[name].push_back(ns / count);
  }
  std::vector<ComputeExcess> found;
  for (const auto& [name, ns] : own) {
    const auto of_others = others.find(name);
    if (of_others == others.end() || of_others->second.size() + 1 < steps.rank_count()) continue;
    found.push_back({name, ns / count, lower_median(of_others->second)});
  }
  std::sort(found.begin(), found.end(), [](const ComputeExcess& a, const ComputeExcess& b) {
    return std::pair(-a.excess_ns(), a.name) < std::pair(-b.excess_ns(), b.name);
  });
  return found;
}

}  // namespace lockstep::analyzer
