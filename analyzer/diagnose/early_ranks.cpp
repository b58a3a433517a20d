#include "analyzer/diagnose/early_ranks.h"

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

// A median that many ranks lie close to is passed by any of them now and then.
constexpr std::size_t kEarlier = 9, kOfSteps = 10;
constexpr std::int64_t kTimesTheMedian = 2;

std::int64_t waited(const StepTable& table, std::size_t step, std::size_t rank) {
  return table.cell(step, rank).measures.partition[Cause::barrier_wait];
}

}  // namespace

std::optional<EarlyRanks> early_ranks(const StepTable& table) {
  const std::size_t ranks = table.rank_count(), steps = table.steps.size();
  if (ranks < 3 || steps == 0) return std::nullopt;
  std::vector<std::size_t> earlier(ranks);
  std::vector<std::int64_t> sums(ranks), compute(ranks), in_step(ranks);
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      in_step[rank] = waited(table, step, rank);
      sums[rank] += in_step[rank];
      compute[rank] += table.cell(step, rank).measures.compute_ns;
    }
    const std::int64_t median = lower_median(in_step);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      if (in_step[rank] > kTimesTheMedian * median) ++earlier[rank];
  }
  EarlyRanks early;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    early.all_ns += sums[rank];
    if (kOfSteps * earlier[rank] < kEarlier * steps) {
      early.others_ns += compute[rank];
      continue;
    }
    early.ranks.push_back(table.ranks[rank]);
    early.waited_ns += sums[rank];
    early.compute_ns += compute[rank];
  }
  if (early.ranks.empty() || 2 * early.ranks.size() >= ranks || 3 * early.waited_ns < 2 * early.all_ns)
    return std::nullopt;
  early.compute_ns /= static_cast<std::int64_t>(early.ranks.size() * steps);
  early.others_ns /= static_cast<std::int64_t>((ranks - early.ranks.size()) * steps);
  return early;
}

}  // namespace lockstep::analyzer
