#include "analyzer/match/unfinished.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/match/ended_well.h"

namespace lockstep::analyzer {
namespace {

// Until when what a rank began is surely in its trace; kUnknownTime where nothing tells.
Nanoseconds known_until(const RankTrace& rank) {
  if (rank.dropped_events > 0 || !rank.lost.empty() || !rank.unrecorded.empty()) return kUnknownTime;
  if (rank.ending.closed) return std::numeric_limits<Nanoseconds>::max();
  if (rank.ending.recorded_until == kUnknownTime) return kUnknownTime;
  return rank.ending.recorded_until - kLastFlush;
}

// Of a group's operations that a rank came to.
struct Numbers {
  std::int64_t first = 0, last = 0;
};

class Unfinished {
 public:
  Unfinished(const Job& job, const GroupTable& table) : job_(job) {
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
      const RankTrace& rank = job.ranks[i];
      rank_of_[rank.rank] = i;
      ended_well_.emplace_back(rank);
      for (const Communication& communication : rank.communications)
        if (communication.group != kNone) came(table, i, communication.group, communication.sequence);
      for (const OpenOperation& open : rank.ending.operations)
        if (open.group != kNone) came(table, i, open.group, open.sequence);
      for (const GroupProgress& progress : rank.ending.progress)
        if (progress.group != kNone) came(table, i, progress.group, progress.issued);
    }
  }

  bool is_unfinished(const Matching& matching, const Match& match) const {
    if (!match.partial || match.point_to_point || match.evidence != Evidence::sequence) return false;
    const std::span<const MatchRecord> records = matching.records_of(match);
    // Who goes on in the group after it has not left it by a failure: all had come, also one whose file lacks
    // its last moments.
    const bool went_well = is_n_to_n(communication_of(job_, records.front()).operation) &&
                           std::any_of(records.begin(), records.end(), [&](MatchRecord record) {
                             return ended_well_[record.rank].has(communication_of(job_, record).group,
                                                                 activity_of(job_, record));
                           });
    Nanoseconds begin = std::numeric_limits<Nanoseconds>::max(), end = kUnknownTime;
    for (const MatchRecord record : records) {
      begin = std::min(begin, activity_of(job_, record).begin);
      end = std::max(end, activity_of(job_, record).end);
    }
    const std::vector<std::int32_t>& members = matching.groups[match.group].ranks;
    return std::any_of(members.begin(), members.end(), [&](std::int32_t member) {
      return never_came(match, records, member, begin + (end - begin) / 2, went_well);
    });
  }

 private:
  void came(const GroupTable& table, std::size_t rank, std::uint32_t group, std::int64_t sequence) {
    if (sequence == kNoSequence) return;
    const auto [where, fresh] =
        numbers_.try_emplace({table.of_records.of_job_group[group], rank}, Numbers{sequence, sequence});
    where->second.first = std::min(where->second.first, sequence);
    where->second.last = std::max(where->second.last, sequence);
  }

  // The member was in operations before this one and went on behind it, in which nobody who came got any
  // further.
  bool is_left_out(const Match& match, std::span<const MatchRecord> records, const Numbers& member) const {
    return member.first < match.sequence && member.last > match.sequence &&
           std::all_of(records.begin(), records.end(), [&](MatchRecord record) {
             const auto came = numbers_.find({match.group, record.rank});
             return came != numbers_.end() && came->second.last == match.sequence;
           });
  }

  bool never_came(const Match& match, std::span<const MatchRecord> records, std::int32_t member,
                  Nanoseconds middle, bool went_well) const {
    const auto rank = rank_of_.find(member);
    if (rank == rank_of_.end() || (went_well && !job_.ranks[rank->second].ending.closed)) return false;
    if (std::any_of(records.begin(), records.end(),
                    [&](MatchRecord record) { return record.rank == rank->second; }))
      return false;
    // One that is not in any of the group's operations may number them otherwise.
    const auto numbers = numbers_.find({match.group, rank->second});
    if (numbers == numbers_.end()) return false;
    if (numbers->second.last >= match.sequence && !is_left_out(match, records, numbers->second)) return false;
    const Nanoseconds until = known_until(job_.ranks[rank->second]);
    return until != kUnknownTime && until >= middle;
  }

  const Job& job_;
  std::map<std::int32_t, std::size_t> rank_of_;
  std::map<std::pair<std::uint32_t, std::size_t>, Numbers> numbers_;  // by match group and index of rank
  std::vector<EndedWell> ended_well_;                                 // by rank
};

}  // namespace

void mark_unfinished(const Job& job, const GroupTable& table, Matching& matching) {
  if (std::none_of(matching.matches.begin(), matching.matches.end(),
                   [](const Match& match) { return match.partial && match.evidence == Evidence::sequence; }))
    return;
  const Unfinished unfinished(job, table);
  for (Match& match : matching.matches) match.unfinished = unfinished.is_unfinished(matching, match);
}

}  // namespace lockstep::analyzer
