#include "analyzer/diagnose/compared_ranks.h"

#include <algorithm>
#include <utility>

namespace lockstep::analyzer {
namespace {

ComparedRanks ranks_of(const Diagnosis& diagnosis, const Delay& delay) {
  const auto records = diagnosis.matching.records_of(diagnosis.matching.matches[delay.match]);
  ComparedRanks compared;
  compared.excess_ns = delay.excess_ns;
  compared.ranks.reserve(records.size());
  compared.spans.reserve(records.size());
  for (const MatchRecord record : records) {
    const Nanoseconds since = left_at(diagnosis.job, diagnosis.matching, delay, record.rank);
    if (since == kUnknownTime && delay.since_match != kNone) continue;
    compared.ranks.push_back(record.rank);
    compared.spans.push_back({since, activity_of(diagnosis.job, record).begin});
  }
  const auto late = std::find(compared.ranks.begin(), compared.ranks.end(), records[delay.late_record].rank);
  compared.late = static_cast<std::size_t>(late - compared.ranks.begin());
  return compared;
}

}  // namespace

std::vector<ComparedRanks> compared_ranks(const Diagnosis& diagnosis, std::span<const Delay* const> delays) {
  const auto is_message = [&](const Delay* delay) {
    return diagnosis.matching.matches[delay->match].point_to_point;
  };
  const bool are_messages = std::all_of(delays.begin(), delays.end(), is_message);
  std::vector<ComparedRanks> all;
  for (const Delay* delay : delays) {
    if (is_message(delay) && !are_messages) continue;
    ComparedRanks one = ranks_of(diagnosis, *delay);
    if (one.late >= one.ranks.size() || one.ranks.size() < 2) continue;
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const ComparedRanks& each) { return each.ranks == one.ranks; });
    if (same == all.end()) {
      all.push_back(std::move(one));
      continue;
    }
    same->spans.insert(same->spans.end(), one.spans.begin(), one.spans.end());
    same->excess_ns += one.excess_ns;
  }
  return all;
}

}  // namespace lockstep::analyzer
