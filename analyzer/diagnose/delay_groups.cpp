#include "analyzer/diagnose/delay_groups.h"

#include <algorithm>
#include <utility>

#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

DelayGroup group_of(const Diagnosis& diagnosis, const Delay& delay) {
  const Match& match = diagnosis.matching.matches[delay.match];
  const auto records = diagnosis.matching.records_of(match);
  DelayGroup group;
  group.are_messages = match.point_to_point;
  group.ranks.reserve(records.size());
  group.spans.reserve(records.size());
  for (const MatchRecord record : records) {
    const Nanoseconds since = left_at(diagnosis.job, diagnosis.matching, delay, record.rank);
    if (since == kUnknownTime && delay.since_match != kNone) continue;
    group.ranks.push_back(record.rank);
    group.spans.push_back({since, activity_of(diagnosis.job, record).begin});
  }
  const auto late = std::find(group.ranks.begin(), group.ranks.end(), records[delay.late_record].rank);
  group.late = static_cast<std::size_t>(late - group.ranks.begin());
  return group;
}

}  // namespace

std::vector<DelayGroup> delay_groups(const Diagnosis& diagnosis, std::span<const Delay* const> delays) {
  std::vector<DelayGroup> all;
  std::int64_t of_messages = 0, of_collectives = 0;
  for (const Delay* delay : delays) {
    DelayGroup one = group_of(diagnosis, *delay);
    if (one.late >= one.ranks.size() || one.ranks.size() < 2) continue;
    std::int64_t& sum = one.are_messages ? of_messages : of_collectives;
    sum = saturating_add(sum, delay->excess_ns);
    const auto same = std::find_if(all.begin(), all.end(), [&](const DelayGroup& each) {
      return each.are_messages == one.are_messages && each.ranks == one.ranks;
    });
    if (same == all.end())
      all.push_back(std::move(one));
    else
      same->spans.insert(same->spans.end(), one.spans.begin(), one.spans.end());
  }
  const bool take_messages = of_messages > of_collectives;
  std::erase_if(all,
                [take_messages](const DelayGroup& group) { return group.are_messages != take_messages; });
  return all;
}

}  // namespace lockstep::analyzer
