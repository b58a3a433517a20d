#include "analyzer/diagnose/comparable_ranks.h"

#include <cstddef>
#include <map>

namespace lockstep::analyzer {
namespace {

bool has_window(const Measures& measures) {
  return measures.known && measures.window_ns > 0;
}

}  // namespace

std::vector<std::int32_t> comparable_ranks(const Report& report, std::int32_t rank) {
  std::vector<std::int32_t> others;
  if (report.steps.empty()) {
    for (const RankReport& other : report.ranks)
      if (other.rank != rank && has_window(other.measures)) others.push_back(other.rank);
    return others;
  }
  // Steps stand in the report by number, then by rank.
  std::int64_t own = 0;
  std::map<std::int32_t, std::int64_t> common;
  for (std::size_t begin = 0, end = 0; begin < report.steps.size(); begin = end) {
    bool has_it = false;
    for (end = begin; end < report.steps.size() && report.steps[end].step == report.steps[begin].step; ++end)
      has_it = has_it || (report.steps[end].rank == rank && has_window(report.steps[end].measures));
    if (!has_it) continue;
    ++own;
    for (std::size_t i = begin; i < end; ++i)
      if (report.steps[i].rank != rank && has_window(report.steps[i].measures))
        ++common[report.steps[i].rank];
  }
  for (const auto& [other, steps] : common)
    if (steps * 5 >= own * 4) others.push_back(other);
  return others;
}

std::optional<std::int32_t> only_rank_with_steps(const Report& report) {
  if (report.ranks.size() < 2 || report.steps.empty()) return std::nullopt;
  for (const StepReport& step : report.steps)
    if (step.rank != report.steps.front().rank) return std::nullopt;
  return report.steps.front().rank;
}

}  // namespace lockstep::analyzer
