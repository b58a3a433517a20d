#include "analyzer/diagnose/step_work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "analyzer/diagnose/cell_statistics.h"

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
  StepWork work{"the counter `" + std::string(name) + "`",
                std::vector<double>(table.cells.size(), kUnknownAmount)};
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
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double amount : work.amount) {
    if (std::isnan(amount)) continue;
    least = std::min(least, amount);
    most = std::max(most, amount);
  }
  // Sums differ in their last digits by the order of what was added.
  return most - least > 1e-9 * std::abs(most);
}

}  // namespace

std::optional<StepWork> work_of_steps(const Job& job, const StepTable& table,
                                      const std::optional<KernelWork>& sizes) {
  if (table.cells.empty()) return std::nullopt;
  for (const std::string_view name : kSizes) {
    const std::optional<StepWork> work = from_counter(job, table, name);
    if (work && varies(*work)) return work;
  }
  const std::optional<KernelWork> kernels =
      sizes ? sizes : KernelWork::read(job, table, KernelMeasure::number);
  if (!kernels || !kernels->differs()) return std::nullopt;
  StepWork work{sizes ? "the number and the launch sizes of kernels" : "the number of kernels",
                kernels->amount(), kernels};
  return varies(work) ? std::optional(std::move(work)) : std::nullopt;
}

std::vector<double> compute_of_steps(const StepTable& table) {
  std::vector<double> compute;
  for (const StepReport* cell : table.cells)
    compute.push_back(static_cast<double>(cell->measures.compute_ns));
  return compute;
}

}  // namespace lockstep::analyzer
