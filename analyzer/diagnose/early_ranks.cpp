#include "analyzer/diagnose/early_ranks.h"

#include "analyzer/intervals/median.h"
#include "base/time_math.h"

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
  if (ranks < 3 || steps == 0 || table.is_limited()) return std::nullopt;
  std::vector<std::size_t> earlier(ranks);
  std::vector<std::int64_t> sums(ranks), compute(ranks), in_step(ranks);
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      in_step[rank] = waited(table, step, rank);
      sums[rank] = saturating_add(sums[rank], in_step[rank]);
      compute[rank] = saturating_add(compute[rank], table.cell(step, rank).measures.compute_ns);
    }
    const std::int64_t median = lower_median(in_step);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      if (in_step[rank] / kTimesTheMedian > median) ++earlier[rank];
  }
  EarlyRanks early;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    early.all_ns = saturating_add(early.all_ns, sums[rank]);
    if (kOfSteps * earlier[rank] < kEarlier * steps) {
      early.others_ns = saturating_add(early.others_ns, compute[rank]);
      continue;
    }
    early.ranks.push_back(table.ranks[rank]);
    early.waited_ns = saturating_add(early.waited_ns, sums[rank]);
    early.compute_ns = saturating_add(early.compute_ns, compute[rank]);
  }
  if (early.ranks.empty() || 2 * early.ranks.size() >= ranks || early.waited_ns / 2 < early.all_ns / 3)
    return std::nullopt;
  const auto cells = static_cast<std::int64_t>(early.ranks.size() * steps);
  early.compute_ns /= cells;
  early.others_ns /= static_cast<std::int64_t>((ranks - early.ranks.size()) * steps);
  if (early.others_ns - early.compute_ns < early.waited_ns / cells / 2) return std::nullopt;
  return early;
}

}  // namespace lockstep::analyzer
