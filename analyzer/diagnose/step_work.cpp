#include "analyzer/diagnose/step_work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "analyzer/diagnose/kernel_work.h"
#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

// What programs call the size of a batch.
constexpr std::array<std::string_view, 6> kSizes{"tokens",       "samples",         "batch size",
                                                 "batch tokens", "sequence length", "tokens per step"};

const RankTrace* trace_of(const Job& job, std::int32_t rank) {
  const auto found = std::find_if(job.ranks.begin(), job.ranks.end(),
                                  [rank](const RankTrace& trace) { return trace.rank == rank; });
  return found == job.ranks.end() ? nullptr : &*found;
}

std::optional<double> last_within(const CounterTrack& track, Nanoseconds begin, Nanoseconds end) {
  const auto after =
      std::upper_bound(track.points.begin(), track.points.end(), end,
                       [](Nanoseconds time, const CounterPoint& point) { return time < point.time; });
  if (after == track.points.begin()) return std::nullopt;
  const CounterPoint& last = *std::prev(after);
  return last.time >= begin && std::isfinite(last.value) ? std::optional(last.value) : std::nullopt;
}

std::optional<StepWork> from_counter(const Job& job, const StepTable& table, std::string_view name) {
  StepWork work{"the counter `" + std::string(name) + "`", std::vector<double>(table.cells.size())};
  std::size_t known = 0;
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank) {
    const RankTrace* const trace = trace_of(job, table.ranks[rank]);
    if (trace == nullptr) return std::nullopt;
    const auto track = std::find_if(trace->counters.begin(), trace->counters.end(),
                                    [name](const CounterTrack& one) { return one.name == name; });
    if (track == trace->counters.end()) return std::nullopt;
    std::map<std::int64_t, const StepMark*> marks;
    for (const StepMark& mark : trace->steps) marks.emplace(mark.number, &mark);
    for (std::size_t step = 0; step < table.steps.size(); ++step) {
      const auto mark = marks.find(table.steps[step]);
      if (mark == marks.end()) continue;
      const std::optional<double> value = last_within(*track, mark->second->begin, mark->second->end);
      if (!value) continue;
      ++known;
      work.amount[step * table.rank_count() + rank] = *value;
    }
  }
  if (known * 10 < table.cells.size() * 9) return std::nullopt;
  return work;
}

bool varies(const StepWork& work) {
  return std::any_of(work.amount.begin(), work.amount.end(),
                     [&](double amount) { return amount != work.amount.front(); });
}

std::vector<double> from_medians_of_steps(const StepTable& table, const std::vector<double>& values) {
  std::vector<double> deviations(values.size());
  const std::size_t ranks = table.rank_count();
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(step * ranks);
    const double median =
        lower_median(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(ranks)));
    for (std::size_t rank = 0; rank < ranks; ++rank)
      deviations[step * ranks + rank] = values[step * ranks + rank] - median;
  }
  return deviations;
}

}  // namespace

std::optional<StepWork> work_of_steps(const Job& job, const StepTable& table) {
  if (table.cells.empty()) return std::nullopt;
  for (const std::string_view name : kSizes) {
    const std::optional<StepWork> work = from_counter(job, table, name);
    if (work && varies(*work)) return work;
  }
  for (const auto of_kernels : {work_of_kernel_sizes, work_of_kernel_numbers})
    if (std::optional<StepWork> work = of_kernels(job, table); work && varies(*work)) return work;
  return std::nullopt;
}

double correlation_within_steps(const StepTable& table, const std::vector<double>& a,
                                const std::vector<double>& b) {
  const std::vector<double> x = from_medians_of_steps(table, a), y = from_medians_of_steps(table, b);
  const auto count = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, products = 0, squares_x = 0, squares_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / count;
    mean_y += y[i] / count;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    products += (x[i] - mean_x) * (y[i] - mean_y);
    squares_x += (x[i] - mean_x) * (x[i] - mean_x);
    squares_y += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return squares_x > 0 && squares_y > 0 ? products / std::sqrt(squares_x * squares_y) : 0;
}

std::vector<double> compute_of_steps(const StepTable& table) {
  std::vector<double> compute;
  for (const StepReport* cell : table.cells)
    compute.push_back(static_cast<double>(cell->measures.compute_ns));
  return compute;
}

std::optional<double> amount_beside_others(const StepTable& table, const std::vector<double>& amount,
                                           std::size_t rank) {
  double sum = 0;
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    std::vector<double> others;
    for (std::size_t other = 0; other < table.rank_count(); ++other)
      if (other != rank) others.push_back(amount[step * table.rank_count() + other]);
    const double median = lower_median(std::move(others));
    if (median <= 0) return std::nullopt;
    sum += amount[step * table.rank_count() + rank] / median;
  }
  return table.steps.empty() ? std::nullopt : std::optional(sum / static_cast<double>(table.steps.size()));
}

}  // namespace lockstep::analyzer
