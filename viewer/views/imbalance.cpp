#include "viewer/views/imbalance.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::viewer {

namespace {

using analyzer::Cause;
using analyzer::kCauseCount;
using analyzer::Measures;
using analyzer::Partition;

bool is_waiting_for_others(Cause cause) {
  return cause == Cause::barrier_wait || cause == Cause::pipeline_bubble;
}

struct OfRank {
  std::int32_t rank = 0;
  Measures measures;
};

std::vector<OfRank> measures_of(const Scene& scene, std::optional<std::int64_t> step) {
  std::vector<OfRank> found;
  if (!step) {
    for (const analyzer::RankReport& rank : scene.report().ranks)
      if (rank.measures.known) found.push_back({rank.rank, rank.measures});
    return found;
  }
  for (const analyzer::StepReport& each : scene.steps())
    if (each.step == *step && each.measures.known) found.push_back({each.rank, each.measures});
  return found;
}

}  // namespace

std::optional<Imbalance> imbalance_of(const Scene& scene, std::optional<std::int64_t> step) {
  const std::vector<OfRank> ranks = measures_of(scene, step);
  if (ranks.empty()) return std::nullopt;
  const auto count = static_cast<std::int64_t>(ranks.size());
  Imbalance found;
  // Of quotients and remainders, so that no sum overflows.
  Partition mean;
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
    std::int64_t whole = 0, rest = 0;
    for (const OfRank& rank : ranks) {
      whole += rank.measures.partition.ns[cause] / count;
      rest += rank.measures.partition.ns[cause] % count;
    }
    mean.ns[cause] = whole + rest / count;
  }
  for (const OfRank& rank : ranks) {
    found.real_ns = std::max(found.real_ns, rank.measures.window_ns);
    found.ranks.push_back(
        {fmt::format("rank {}", rank.rank), rank.measures.partition, rank.measures.window_ns});
  }
  Partition balanced = mean, ideal;
  for (std::size_t cause = 0; cause < kCauseCount; ++cause)
    if (is_waiting_for_others(static_cast<Cause>(cause))) balanced.ns[cause] = 0;
  ideal[Cause::compute] = mean[Cause::compute];
  found.mean_compute_ns = mean[Cause::compute];
  found.balanced_ns = balanced.total();
  found.ideal_ns = ideal.total();
  found.bars = {{"real (mean of ranks)", mean, mean.total()},
                {"nobody waits for others", balanced, found.balanced_ns},
                {"and nothing but compute shows", ideal, found.ideal_ns}};
  return found;
}

}  // namespace lockstep::viewer
