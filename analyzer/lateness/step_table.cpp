#include "analyzer/lateness/step_table.h"

#include <algorithm>
#include <map>

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

bool is_known(const StepReport& step) {
  return step.measures.known && step.measures.waits_known;
}

}  // namespace

StepTable make_step_table(const Report& report, const BlamedInStep& blamed, const WaitedBesides& besides) {
  // Steps stand in the report by number, then by rank.
  StepTable table;
  std::vector<std::size_t> begins;
  std::map<std::int32_t, std::size_t> known_steps;
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    if (i == 0 || report.steps[i].step != report.steps[i - 1].step) begins.push_back(i);
    if (is_known(report.steps[i])) ++known_steps[report.steps[i].rank];
  }
  for (const auto& [rank, count] : known_steps)
    if (count * 10 >= begins.size() * 9) table.ranks.push_back(rank);
  if (table.ranks.size() < 2) return table;
  begins.push_back(report.steps.size());

  std::int64_t total_ns = 0;
  std::vector<const StepReport*> cells;
  std::vector<std::int64_t> waits;
  for (std::size_t row = 0; row + 1 < begins.size(); ++row) {
    cells.clear();
    for (std::size_t i = begins[row]; i < begins[row + 1]; ++i) {
      const StepReport& step = report.steps[i];
      if (is_known(step) && std::binary_search(table.ranks.begin(), table.ranks.end(), step.rank))
        cells.push_back(&step);
    }
    if (cells.size() != table.ranks.size()) continue;
    std::sort(cells.begin(), cells.end(),
              [](const StepReport* a, const StepReport* b) { return a->rank < b->rank; });
    waits.clear();
    for (const StepReport* cell : cells) {
      waits.push_back(cell->measures.partition[Cause::barrier_wait] + (besides ? besides(*cell) : 0));
      total_ns += cell->measures.window_ns;
    }
    const std::vector<std::int64_t> beyond = excess_over_others(waits);
    const std::int64_t number = cells.front()->step;
    for (std::size_t i = 0; i < cells.size(); ++i)
      table.late_ns.push_back(blamed ? blamed(number, table.ranks[i]) : -beyond[i]);
    table.steps.push_back(number);
    table.cells.insert(table.cells.end(), cells.begin(), cells.end());
  }
  if (!table.cells.empty()) table.mean_step_ns = total_ns / static_cast<std::int64_t>(table.cells.size());
  return table;
}

StepTable some_steps(const StepTable& table, std::span<const std::size_t> steps) {
  StepTable some;
  some.ranks = table.ranks;
  some.slow_hosts = table.slow_hosts;
  const std::size_t count = table.rank_count();
  std::int64_t total_ns = 0;
  for (const std::size_t step : steps) {
    some.steps.push_back(table.steps[step]);
    if (table.is_limited()) {
      some.behind_hosts_ns.push_back(table.behind_hosts_ns[step]);
      some.behind_gpu_ns.push_back(table.behind_gpu_ns[step]);
    }
    for (std::size_t rank = 0; rank < count; ++rank) {
      some.cells.push_back(table.cells[step * count + rank]);
      some.late_ns.push_back(table.late(step, rank));
      if (table.is_limited()) some.by_waits_ns.push_back(table.late_by_waits(step, rank));
      if (!table.idle_cells.empty()) some.idle_cells.push_back(table.idle_cells[step * count + rank]);
      total_ns += some.cells.back()->measures.window_ns;
    }
  }
  if (!some.cells.empty()) some.mean_step_ns = total_ns / static_cast<std::int64_t>(some.cells.size());
  return some;
}

StepTable steps_from(const StepTable& table, std::size_t first) {
  std::vector<std::size_t> steps;
  for (std::size_t step = first; step < table.steps.size(); ++step) steps.push_back(step);
  return some_steps(table, steps);
}

std::int64_t time_by_cause(const StepTable& table, std::size_t step, std::size_t rank, std::size_t cause) {
  const std::int64_t ns = table.cell(step, rank).measures.partition.ns[cause];
  const auto as_cause = static_cast<Cause>(cause);
  if (as_cause == Cause::transfer && !table.idle_cells.empty()) return 0;
  if (as_cause == Cause::host_bound) return ns + table.idle(step, rank).bubble_ns;
  return as_cause == Cause::pipeline_bubble ? ns - table.idle(step, rank).bubble_ns : ns;
}

std::array<std::int64_t, kCauseCount> excess_by_cause(const StepTable& table, std::size_t step,
                                                      std::size_t rank) {
  std::array<std::int64_t, kCauseCount> excess{};
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
    std::vector<std::int64_t> others;
    others.reserve(table.rank_count());
    for (std::size_t other = 0; other < table.rank_count(); ++other)
      if (other != rank) others.push_back(time_by_cause(table, step, other, cause));
    excess[cause] = time_by_cause(table, step, rank, cause) - lower_median(std::move(others));
  }
  return excess;
}

std::int64_t own_time(const StepTable& table, std::size_t step, std::size_t rank) {
  const Measures& measures = table.cell(step, rank).measures;
  return measures.window_ns - measures.partition[Cause::barrier_wait] -
         measures.partition[Cause::pipeline_bubble] - measures.partition[Cause::transfer] +
         table.idle(step, rank).bubble_ns;
}

std::int64_t busy_time(const StepTable& table, std::size_t step, std::size_t rank) {
  return own_time(table, step, rank) + table.cell(step, rank).measures.partition[Cause::transfer];
}

std::vector<std::int64_t> own_excess(const StepTable& table) {
  std::vector<std::int64_t> excess, own(table.rank_count());
  excess.reserve(table.cells.size());
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    for (std::size_t rank = 0; rank < own.size(); ++rank) own[rank] = own_time(table, step, rank);
    const std::vector<std::int64_t> of_step = excess_over_others(own);
    excess.insert(excess.end(), of_step.begin(), of_step.end());
  }
  return excess;
}

}  // namespace lockstep::analyzer
