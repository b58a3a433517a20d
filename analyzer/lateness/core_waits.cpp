#include "analyzer/lateness/core_waits.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"
#include "base/time_math.h"

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

// In a step: the others' waiting for a core (a lower median), times what the rank runs more than they do.
std::int64_t waiting_of_more_to_run(const StepTable& table, std::int32_t rank) {
  const std::size_t own = table.index_of(rank);
  std::int64_t own_ran = 0;
  std::vector<std::int64_t> ran, waited;
  for (std::size_t of = 0; of < table.rank_count(); ++of) {
    std::int64_t ran_ns = 0, waited_ns = 0;
    for (std::size_t step = 0; step < table.steps.size(); ++step) {
      const Measures& measures = table.cell(step, of).measures;
      ran_ns = saturating_add(ran_ns, measures.on_core_ns.value_or(0));
      waited_ns = saturating_add(waited_ns, measures.run_queue_ns.value_or(0));
    }
    if (of == own) {
      own_ran = ran_ns;
      continue;
    }
    ran.push_back(ran_ns);
    waited.push_back(waited_ns);
  }
  if (ran.empty()) return 0;
  const std::int64_t others_ran = lower_median(std::move(ran));
  if (others_ran <= 0 || own_ran <= others_ran) return 0;
  const double more = static_cast<double>(own_ran - others_ran) / static_cast<double>(others_ran);
  return std::llround(more * static_cast<double>(lower_median(std::move(waited))) /
                      static_cast<double>(table.steps.size()));
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
  std::optional<std::int64_t> whole = run_queue_excess(table, late.rank);
  if (whole && *whole > 0)
    *whole = std::max<std::int64_t>(0, *whole - waiting_of_more_to_run(table, late.rank));
  if (!whole || !is_late_by_idling(table, late)) return whole;
  const auto within = mean_beyond_others(
      table, table.index_of(late.rank),
      [&](std::size_t step, std::size_t of) { return std::optional(table.idle(step, of).without_core_ns); });
  return within ? std::min(*within, *whole) : within;
}

}  // namespace lockstep::analyzer
