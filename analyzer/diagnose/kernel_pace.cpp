#include "analyzer/diagnose/kernel_pace.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analyzer/diagnose/cell_statistics.h"
#include "analyzer/intervals/median.h"
#include "analyzer/model/gpus.h"

namespace lockstep::analyzer {
namespace {

constexpr double kSlower = 1.1;
constexpr std::size_t kInMost = 9, kOfSteps = 10;

// By rank: in how many steps its value is above the median of the others', where all are known.
std::vector<std::size_t> steps_above_others(const StepTable& table, const std::vector<double>& values) {
  const std::size_t ranks = table.rank_count();
  std::vector<std::size_t> above(ranks);
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(step * ranks);
    const std::vector<double> of_step(first, first + static_cast<std::ptrdiff_t>(ranks));
    if (std::any_of(of_step.begin(), of_step.end(), [](double value) { return std::isnan(value); })) continue;
    const std::vector<double> medians = lower_medians_of_others(of_step);
    for (std::size_t rank = 0; rank < ranks; ++rank) above[rank] += of_step[rank] > medians[rank] ? 1 : 0;
  }
  return above;
}

}  // namespace

std::vector<SlowerRank> slower_ranks(const Job& job, const StepTable& table, const KernelWork& work) {
  if (table.rank_count() < 2 || !work.has_sizes() || !ranks_that_share_gpus(job).empty()) return {};
  std::vector<double> pace = work.counted_ns();
  for (std::size_t cell = 0; cell < pace.size(); ++cell)
    pace[cell] = work.amount()[cell] > 0 ? pace[cell] / work.amount()[cell] : kUnknownAmount;
  const std::vector<std::size_t> above = steps_above_others(table, pace);
  std::vector<SlowerRank> slower;
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank) {
    if (kOfSteps * above[rank] < kInMost * table.steps.size()) continue;
    const std::optional<double> times = amount_beside_others(table, pace, rank);
    const std::optional<double> amount = amount_beside_others(table, work.amount(), rank);
    if (!times || !amount || *amount <= 0) continue;
    // With nothing but a fixed time for each kernel the pace would be 1 / amount, with a time that grows with
    // the square of the size it would be the amount.
    const double at_least = *times * std::min(*amount, 1 / *amount);
    if (at_least >= kSlower) slower.push_back({table.ranks[rank], *times, above[rank]});
  }
  return slower;
}

}  // namespace lockstep::analyzer
