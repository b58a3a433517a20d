#include "analyzer/diagnose/hang_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analyzer/diagnose/hang_words.h"

namespace lockstep::analyzer::hang {

std::vector<HungOperations::const_iterator> in_order_of_time(const HungOperations& hung) {
  std::vector<HungOperations::const_iterator> in_order;
  for (auto at = hung.begin(); at != hung.end(); ++at) in_order.push_back(at);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto& a, const auto& b) { return a->second.since < b->second.since; });
  return in_order;
}

void add_unknown_standings(const Job& job, const std::vector<std::int32_t>& unknown, Finding& finding) {
  const UnknownRanks ranks = sort_unknown(job, unknown);
  for (const std::int32_t rank : ranks.without_trace)
    finding.standings.push_back({{rank}, false, "left no trace", false});
  for (const std::int32_t rank : ranks.damaged)
    finding.standings.push_back(
        {{rank}, false, fmt::format("its {} is cut or damaged: collect it again", file_of(job)), false});
}

void place_all_ranks(const Job& job, const HungOperations& hung, std::span<const Finding> all,
                     Finding& finding) {
  std::set<std::int32_t> placed;
  for (const Finding& other : all)
    for (const Standing& standing : other.standings)
      placed.insert(standing.ranks.begin(), standing.ranks.end());
  for (const HungOperations::const_iterator& at : in_order_of_time(hung)) {
    std::vector<HungRank> waiting;
    for (const HungRank& one : at->second.waiting)
      if (!one.gave_up && !one.behind && placed.insert(job.ranks[one.rank].rank).second)
        waiting.push_back(one);
    for (RanksInOne& one : by_operation(job, waiting)) {
      std::string where = describe(job, at->first, one);
      finding.standings.push_back({std::move(one.ranks), true, std::move(where)});
    }
  }
  std::map<std::string, std::vector<std::int32_t>> elsewhere;
  const ShownByOthers shown(job);
  for (const RankTrace& rank : job.ranks)
    if (!placed.contains(rank.rank))
      elsewhere[what_is_known_of(job, shown, {}, rank.rank, Looks::left_out)].push_back(rank.rank);
  for (auto& [known, ranks] : elsewhere)
    finding.standings.push_back({std::move(ranks), false, known, true, true});
  std::vector<std::int32_t> untold;
  for (const std::int32_t rank : job.ranks_missing)
    if (!placed.contains(rank)) untold.push_back(rank);
  if (!untold.empty()) finding.standings.push_back({std::move(untold), false, "left no trace", false, true});
}

std::optional<FindingPlace> place_in_time(const Job& job, const Report& report, const OperationKey& key,
                                          const HungOperation& hung) {
  if (!has_stacks(job)) return std::nullopt;
  const HungRank* first = nullptr;
  for (const HungRank& one : hung.waiting)
    if (!one.behind && (first == nullptr || one.operation.begin < first->operation.begin)) first = &one;
  if (first == nullptr || first->waited == 0) return std::nullopt;
  FindingPlace place;
  place.rank = job.ranks[first->rank].rank;
  place.begin_ns = first->operation.begin - report.origin_aligned_ns;
  place.end_ns = place.begin_ns + first->waited;
  if (key.group == kNone || key.is_message()) return place;
  const auto same = [&](const CollectiveReport& one) {
    return one.sequence == key.sequence && one.group_name == job.groups[key.group].name &&
           std::any_of(one.ranks.begin(), one.ranks.end(), [&](const CollectiveRank& rank) {
             return rank.rank == place.rank && rank.arrival_ns == place.begin_ns;
           });
  };
  const auto found = std::find_if(report.collectives.begin(), report.collectives.end(), same);
  if (found != report.collectives.end()) place.collective = found->id;
  return place;
}

}  // namespace lockstep::analyzer::hang
