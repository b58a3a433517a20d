#include "analyzer/lateness/core_waits.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

// `of` a step and a rank's index.
template <class Of>
std::optional<std::int64_t> mean_beyond_others(const StepTable& table, std::size_t own, const Of& of) {
  std::int64_t sum = 0;
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    std::vector<std::int64_t> others;
    for (std::size_t other = 0; other < table.rank_count(); ++other) {
      const std::optional<std::int64_t> value = of(step, other);
      if (!value) return std::nullopt;
      if (other != own) others.push_back(*value);
    }
    sum += *of(step, own) - lower_median(std::move(others));
  }
  return table.steps.empty() ? std::nullopt
                             : std::optional(sum / static_cast<std::int64_t>(table.steps.size()));
}

}  // namespace

std::optional<std::int64_t> mean_excess(const StepTable& table, std::int32_t rank,
                                        std::optional<std::int64_t> Measures::*measure) {
  return mean_beyond_others(table, table.index_of(rank), [&](std::size_t step, std::size_t of) {
    return table.cell(step, of).measures.*measure;
  });
}

bool is_late_by_idling(const StepTable& table, const RankLateness& late) {
  if (late.cause != Cause::host_bound || table.idle_cells.empty()) return false;
  const auto idle = mean_beyond_others(
      table, table.index_of(late.rank),
      [&](std::size_t step, std::size_t of) { return std::optional(table.idle(step, of).ns); });
  return idle && 2 * *idle >= late.mean_ns;
}

std::optional<std::int64_t> run_queue_excess(const StepTable& table, std::int32_t rank) {
  return mean_excess(table, rank, &Measures::run_queue_ns);
}

std::optional<std::int64_t> core_wait_excess(const StepTable& table, const RankLateness& late) {
  const std::optional<std::int64_t> whole = run_queue_excess(table, late.rank);
  if (!whole || !is_late_by_idling(table, late)) return whole;
  const auto within = mean_beyond_others(
      table, table.index_of(late.rank),
      [&](std::size_t step, std::size_t of) { return std::optional(table.idle(step, of).without_core_ns); });
  return within ? std::min(*within, *whole) : within;
}

}  // namespace lockstep::analyzer
