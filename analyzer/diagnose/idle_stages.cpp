#include "analyzer/diagnose/idle_stages.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/operation.h"

namespace lockstep::analyzer {
namespace {

IntervalSet busy_of(const RankTrace& rank) {
  std::vector<Interval> intervals;
  for (const Activity& activity : rank.activities)
    if (activity.activity_class != Class::sync) intervals.push_back({activity.begin, activity.end});
  return IntervalSet::from(std::move(intervals));
}

}  // namespace

IdleStages find_idle_stages(const Job& job, const Report& report) {
  std::set<std::string> groups;
  for (const PipelineReport& pipeline : report.pipeline)
    if (!pipeline.stages_detail.empty()) groups.insert(pipeline.group);
  IdleStages idle;
  if (groups.empty()) return idle;
  std::map<std::int32_t, IntervalSet> busy;
  for (const RankTrace& rank : job.ranks) busy[rank.rank] = busy_of(rank);

  std::map<std::pair<std::int64_t, std::int32_t>, std::vector<Interval>> waited;
  for (const CollectiveReport& message : report.collectives) {
    if (!message.last_arriver || !is_point_to_point(message.operation) ||
        !groups.contains(message.group_name))
      continue;
    const auto of_late = busy.find(*message.last_arriver);
    if (of_late == busy.end()) continue;
    Interval longest;
    for (const CollectiveRank& rank : message.ranks) {
      const Nanoseconds begin = report.origin_aligned_ns + rank.arrival_ns;
      if (rank.rank != *message.last_arriver && rank.wait_ns > longest.end - longest.begin)
        longest = {begin, begin + rank.wait_ns};
    }
    if (longest.end == longest.begin) continue;
    if (message.step) waited[{*message.step, *message.last_arriver}].push_back(longest);
    if (2 * of_late->second.measure_within(longest.begin, longest.end) < longest.end - longest.begin)
      idle.messages.insert(message.id);
  }
  for (auto& [of, intervals] : waited)
    idle.ns[of] = subtract(IntervalSet::from(std::move(intervals)), busy.at(of.second)).measure();
  return idle;
}

}  // namespace lockstep::analyzer
