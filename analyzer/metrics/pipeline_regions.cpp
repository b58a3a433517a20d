#include "analyzer/metrics/pipeline_regions.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lockstep::analyzer {
namespace {

// The step's number, so that ranks agree on it; a value of its own where no step is known.
constexpr std::int64_t kNoStep = std::int64_t{-1} << 62;

std::int64_t step_number(const RankTrace& rank, const Activity& activity) {
  const std::uint32_t step = launching_step(rank, activity);
  return step == kNone ? kNoStep : rank.steps[step].number;
}

}  // namespace

std::vector<IntervalSet> find_pipeline_regions(const Job& job, const Matching& matching) {
  std::map<std::pair<std::uint32_t, std::int64_t>, Interval> regions;
  for (const Match& match : matching.matches) {
    if (!match.point_to_point || !matching.groups[match.group].pipeline) continue;
    for (const MatchRecord record : matching.records_of(match)) {
      const Activity& activity = activity_of(job, record);
      const std::pair key(match.group, step_number(job.ranks[record.rank], activity));
      const auto [entry, inserted] = regions.try_emplace(key, Interval{activity.begin, activity.end});
      entry->second.begin = std::min(entry->second.begin, activity.begin);
      entry->second.end = std::max(entry->second.end, activity.end);
    }
  }
  std::vector<std::vector<Interval>> per_rank(job.ranks.size());
  for (const auto& [key, region] : regions) {
    const std::vector<std::int32_t>& members = matching.groups[key.first].ranks;
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
      if (std::binary_search(members.begin(), members.end(), job.ranks[r].rank))
        per_rank[r].push_back(region);
    }
  }
  std::vector<IntervalSet> result;
  for (std::vector<Interval>& intervals : per_rank) result.push_back(IntervalSet::from(std::move(intervals)));
  return result;
}

}  // namespace lockstep::analyzer
