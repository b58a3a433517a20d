#include "analyzer/account/late_start.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/time_math.h"

namespace lockstep::analyzer {

std::optional<LateStart> find_late_start(const Job& job, std::span<const RankWindows> windows,
                                         const Matching& matching, std::span<const MatchWaits> of_matches,
                                         const JobWaits& waits, std::int64_t wall_ns) {
  constexpr std::int64_t kLeast = 2'000'000'000, kOfWall = 20;
  if (job.ranks.size() < 2) return std::nullopt;
  std::vector<Interval> starts;
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank)
    starts.push_back(start_of(job.ranks[rank], windows[rank]));
  std::vector<std::int64_t> waited_for(job.ranks.size());
  for (std::size_t i = 0; i < matching.matches.size(); ++i) {
    if (!of_matches[i].last_arriver) continue;
    const std::span<const MatchRecord> records = matching.records_of(matching.matches[i]);
    const std::uint32_t last = records[*of_matches[i].last_arriver].rank;
    const Interval start = starts[last];
    if (start.begin >= start.end) continue;
    for (const MatchRecord& record : records) {
      const std::int64_t wait = record.rank == last ? 0 : wait_of(job, waits, record);
      if (wait <= 0) continue;
      const Nanoseconds begin = activity_of(job, record).begin;
      const std::int64_t within = std::min(begin + wait, start.end) - std::max(begin, start.begin);
      waited_for[last] = saturating_add(waited_for[last], std::max<std::int64_t>(0, within));
    }
  }
  const auto most = std::max_element(waited_for.begin(), waited_for.end());
  const std::int64_t mean = *most / static_cast<std::int64_t>(job.ranks.size() - 1);
  if (mean < kLeast || mean < wall_ns / kOfWall) return std::nullopt;
  return LateStart{job.ranks[static_cast<std::size_t>(most - waited_for.begin())].rank, mean};
}

}  // namespace lockstep::analyzer
