#include "viewer/views/imbalance.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/quantity.h"

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
    for (const analyzer::RankReport& rank : scene.counted_ranks())
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
  found.waits_known =
      std::ranges::all_of(ranks, [](const OfRank& rank) { return rank.measures.waits_known; });
  found.bars = {{"real (mean of ranks)", mean, mean.total()}};
  if (found.waits_known) found.bars.push_back({"nobody waits for others", balanced, found.balanced_ns});
  found.bars.push_back({found.waits_known ? "and nothing but compute shows" : "nothing but compute shows",
                        ideal, found.ideal_ns});
  return found;
}

std::string sentence(const Imbalance& imbalance) {
  if (!imbalance.waits_known)
    return "Not all ranks left a trace: nobody can tell how much of the communication is waiting, and so how "
           "much sooner ranks would be done if nobody waited for others.";
  const ImbalanceBar& real = imbalance.bars.front();
  const std::int64_t saved = real.total_ns - imbalance.balanced_ns;
  std::string text = fmt::format(
      "With the same work spread evenly, so that nobody waits for others, ranks would be done {} sooner ({})",
      analyzer::format_duration(saved),
      analyzer::format_share(saved, std::max<std::int64_t>(real.total_ns, 1)));
  if (const std::int64_t bubble = real.parts[Cause::pipeline_bubble]; bubble > 0)
    text += fmt::format(
        "; {} of that is the pipeline's bubble, of which its schedule makes some however even the work is",
        analyzer::format_duration(bubble));
  return text + ".";
}

}  // namespace lockstep::viewer
