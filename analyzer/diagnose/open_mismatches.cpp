#include "analyzer/diagnose/open_mismatches.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/diagnose/hang_arguments.h"
#include "analyzer/model/operation.h"

namespace lockstep::analyzer {
namespace {

using Place = std::pair<std::uint32_t, std::int64_t>;  // match group, number

// Groups in which a number means one operation on all ranks, as at least one that they did together shows.
std::set<std::uint32_t> numbered_groups(const Matching& matching) {
  std::set<std::uint32_t> groups;
  for (const Match& match : matching.matches)
    if (match.evidence == Evidence::sequence && !match.point_to_point && match.record_count > 1 &&
        !match.disagreement.any())
      groups.insert(match.group);
  return groups;
}

bool disagree(const std::vector<NumberedCall>& calls) {
  std::set<std::int64_t> sizes;
  for (const NumberedCall& call : calls) {
    if (call.operation != calls.front().operation) return true;
    if (hang::has_one_size(call.operation) && call.bytes > 0) sizes.insert(call.bytes);
  }
  return sizes.size() > 1;
}

// Several operations of a rank under one number: a coalesced call, or numbers that do not count all
// collectives. Which of them belong together is not known.
bool has_rank_twice(const std::vector<NumberedCall>& calls) {
  return std::adjacent_find(calls.begin(), calls.end(), [](const NumberedCall& a, const NumberedCall& b) {
           return a.rank == b.rank;
         }) != calls.end();
}

class Calls {
 public:
  Calls(const Job& job, const Matching& matching) : groups_(numbered_groups(matching)) {
    const std::vector<std::uint32_t>& of_job_group = matching.groups_of_records.of_job_group;
    const auto visit = [&](const auto& one, auto take) {
      if (one.group >= of_job_group.size() || one.sequence == kNoSequence) return;
      if (one.operation == Operation::unknown || is_point_to_point(one.operation)) return;
      if (const std::uint32_t group = of_job_group[one.group]; groups_.contains(group))
        take(Place{group, one.sequence});
    };
    for (std::size_t i = 0; i < job.ranks.size(); ++i)
      for (const OpenOperation& open : job.ranks[i].ending.operations)
        visit(open, [&](const Place& place) {
          at_[place].push_back({i, open.operation, open.bytes, open.begin, true});
        });
    if (at_.empty()) return;
    for (std::size_t i = 0; i < job.ranks.size(); ++i)
      for (const Communication& record : job.ranks[i].communications)
        visit(record, [&](const Place& place) {
          const auto [last, fresh] = last_ended_.try_emplace({place.first, i}, place.second);
          last->second = std::max(last->second, place.second);
          if (const auto where = at_.find(place); where != at_.end())
            where->second.push_back(
                {i, record.operation, record.bytes, job.ranks[i].activities[record.activity].begin, false});
        });
    for (auto& [place, calls] : at_)
      std::stable_sort(calls.begin(), calls.end(),
                       [](const NumberedCall& a, const NumberedCall& b) { return a.rank < b.rank; });
  }

  const std::map<Place, std::vector<NumberedCall>>& at() const { return at_; }

  bool got_further(const Place& place, std::size_t rank) const {
    const auto last = last_ended_.find({place.first, rank});
    return last != last_ended_.end() && last->second > place.second;
  }

 private:
  std::set<std::uint32_t> groups_;
  std::map<Place, std::vector<NumberedCall>> at_;  // of numbers under which an operation never ended
  std::map<std::pair<std::uint32_t, std::size_t>, std::int64_t> last_ended_;  // by match group and rank
};

}  // namespace

std::vector<OpenMismatch> find_open_mismatches(const Job& job, const Matching& matching) {
  const bool any_open = std::any_of(job.ranks.begin(), job.ranks.end(),
                                    [](const RankTrace& rank) { return !rank.ending.operations.empty(); });
  if (!any_open) return {};
  std::set<Place> told;
  for (const Contradiction& contradiction : matching.contradictions)
    if (contradiction.evidence == Evidence::sequence)
      told.insert({contradiction.group, contradiction.position});
  const Calls all(job, matching);
  std::vector<OpenMismatch> found;
  for (const auto& [place, calls] : all.at()) {
    if (told.contains(place) || has_rank_twice(calls) || !disagree(calls)) continue;
    const bool further = std::any_of(calls.begin(), calls.end(), [&, at = place](const NumberedCall& call) {
      return all.got_further(at, call.rank);
    });
    found.push_back({place.first, place.second, calls, !further});
  }
  return found;
}

}  // namespace lockstep::analyzer
