#include "analyzer/diagnose/unanswered.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "analyzer/diagnose/shown_by_others.h"
#include "analyzer/model/operation.h"

namespace lockstep::analyzer {
namespace {

// Calls visit(group, sequence, participant) for every collective that a rank came to.
template <class Visit>
void visit_collectives(const Job& job, std::size_t index, Visit visit) {
  const RankTrace& rank = job.ranks[index];
  for (const Communication& c : rank.communications) {
    if (c.group == kNone || c.sequence == kNoSequence || is_point_to_point(c.operation)) continue;
    if (c.activity >= rank.activities.size()) continue;
    const Activity& activity = rank.activities[c.activity];
    visit(c.group, c.sequence, Participant{index, c.operation, activity.name, activity.begin, activity.end});
  }
  for (const OpenOperation& open : rank.ending.operations) {
    if (open.group == kNone || open.sequence == kNoSequence || is_point_to_point(open.operation)) continue;
    visit(open.group, open.sequence, Participant{index, open.operation, open.name, open.begin, kUnknownTime});
  }
}

}  // namespace

std::vector<UnansweredCollective> find_unanswered(const Job& job) {
  // The last number of each rank in each group.
  std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> last;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const auto reached = [&](std::uint32_t group, std::int64_t sequence) {
      const auto [where, fresh] = last.try_emplace({i, group}, sequence);
      where->second = std::max(where->second, sequence);
    };
    // What a damaged file has lost since may have been the next one.
    visit_collectives(
        job, i, [&](std::uint32_t group, std::int64_t sequence, const Participant& participant) {
          if (!job.ranks[i].was_lost_within(participant.begin, std::numeric_limits<Nanoseconds>::max()))
            reached(group, sequence);
        });
    for (const GroupProgress& progress : job.ranks[i].ending.progress)
      if (progress.group != kNone && progress.issued != kNoSequence) reached(progress.group, progress.issued);
  }
  // A file that was not closed lacks its last moments, in which the rank came to more, as others show.
  const std::map<std::uint32_t, EndedTogether> together = last_ended_together(job);
  for (auto& [rank_and_group, sequence] : last) {
    const auto [index, group] = rank_and_group;
    const auto shown = together.find(group);
    if (!job.ranks[index].ending.closed && shown != together.end())
      sequence = std::max(sequence, shown->second.sequence);
  }
  std::map<OperationKey, UnansweredCollective> found;
  for (const auto& [rank_and_group, sequence] : last) {
    const auto [index, group] = rank_and_group;
    const std::vector<std::int32_t>& members = job.groups[group].ranks;
    if (std::find(members.begin(), members.end(), job.ranks[index].rank) == members.end()) continue;
    UnansweredCollective& collective = found[OperationKey{group, sequence + 1}];
    collective.group = group;
    collective.sequence = sequence + 1;
    collective.missing.push_back(job.ranks[index].rank);
  }
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    visit_collectives(
        job, i, [&](std::uint32_t group, std::int64_t sequence, const Participant& participant) {
          if (const auto where = found.find(OperationKey{group, sequence}); where != found.end())
            where->second.participants.push_back(participant);
        });
  }
  std::vector<UnansweredCollective> list;
  for (auto& [key, collective] : found) {
    std::sort(collective.missing.begin(), collective.missing.end());
    if (!collective.participants.empty()) list.push_back(std::move(collective));
  }
  return list;
}

std::vector<SkippedCollective> find_skipped(const Job& job) {
  // By group and number: how many ranks stopped at it. Where all others stopped at one, a rank is alone with
  // its own.
  std::map<std::uint32_t, std::map<std::int64_t, std::size_t>> stopped_at;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    std::map<std::uint32_t, std::int64_t> last;
    visit_collectives(job, i, [&](std::uint32_t group, std::int64_t sequence, const Participant&) {
      const auto [where, fresh] = last.try_emplace(group, sequence);
      where->second = std::max(where->second, sequence);
    });
    for (const auto& [group, sequence] : last) ++stopped_at[group][sequence];
  }
  std::erase_if(stopped_at, [](const auto& group) { return group.second.size() != 2; });
  if (stopped_at.empty()) return {};
  // Of those groups alone: all that their ranks came to.
  std::map<std::uint32_t, std::map<std::size_t, std::map<std::int64_t, Participant>>> groups;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    visit_collectives(job, i,
                      [&](std::uint32_t group, std::int64_t sequence, const Participant& participant) {
                        if (stopped_at.contains(group)) groups[group][i].try_emplace(sequence, participant);
                      });
  }
  std::vector<SkippedCollective> found;
  for (const auto& [group, of_group] : groups) {
    const std::map<std::int64_t, std::size_t>& stopped = stopped_at.at(group);
    for (const auto& [rank, numbers] : of_group) {
      if (stopped.at(numbers.rbegin()->first) != 1) continue;
      const RankTrace& trace = job.ranks[rank];
      if (trace.dropped_events > 0 || !trace.lost.empty() || !trace.unrecorded.empty()) continue;
      SkippedCollective skipped{group, kNoSequence, {}, {}, kNoSequence};
      for (const auto& [other, its] : of_group) {
        if (other == rank) continue;
        const auto& [last, participant] = *its.rbegin();
        skipped.sequence = last;
        skipped.participants.push_back(participant);
      }
      const auto next = numbers.upper_bound(skipped.sequence);
      const bool was_before = numbers.begin()->first < skipped.sequence;
      if (!was_before || numbers.contains(skipped.sequence) || next == numbers.end()) continue;
      skipped.next_sequence = next->first;
      skipped.skipped_by = next->second;
      found.push_back(std::move(skipped));
      break;
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const SkippedCollective& a, const SkippedCollective& b) {
    return a.participants.front().begin < b.participants.front().begin;
  });
  return found;
}

Nanoseconds time_in(const Job& job, const Participant& participant) {
  const Ending& ending = job.ranks[participant.rank].ending;
  const Nanoseconds end =
      participant.end != kUnknownTime ? participant.end : std::max(ending.recorded_until, ending.hang_noted);
  return end == kUnknownTime ? 0 : std::max<Nanoseconds>(end - participant.begin, 0);
}

}  // namespace lockstep::analyzer
