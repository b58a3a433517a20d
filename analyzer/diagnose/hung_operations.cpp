#include "analyzer/diagnose/hung_operations.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "analyzer/diagnose/ended_operations.h"
#include "analyzer/diagnose/job_endings.h"
#include "analyzer/diagnose/unanswered.h"
#include "analyzer/match/match.h"
#include "analyzer/model/hang_length.h"
#include "analyzer/model/operation.h"
#include "trace/events/wait_range.h"

namespace lockstep::analyzer {
namespace {

bool is_message(const OpenOperation& operation) {
  return operation.operation == Operation::send || operation.operation == Operation::recv;
}

// Until when an operation that never ended was waited in; kUnknownTime where nobody knows. What came after an
// interruption is no waiting.
Nanoseconds waited_until(const Ending& ending) {
  if (ending.interrupted != kUnknownTime) return ending.interrupted;
  if (ending.recorded_until == kUnknownTime) return kUnknownTime;
  return std::max(ending.recorded_until, ending.hang_noted);
}

bool is_hung(const RankTrace& rank, const OpenOperation& operation) {
  const Ending& ending = rank.ending;
  if (ending.hang_noted != kUnknownTime && operation.begin <= ending.hang_noted) return true;
  const Nanoseconds until = waited_until(ending);
  return until != kUnknownTime && is_as_long_as_a_hang(until - operation.begin, longest_operation(rank));
}

// On the CPU a message may be asked for long before it is needed, and what nobody waits for holds up nobody.
// A wait that an interruption ended was one.
bool is_waited_for(const Job& job, const RankTrace& rank) {
  if (rank.device != "cpu") return true;
  const auto is_wait = [&](std::uint32_t name) {
    return job.strings.view(name) == trace::kWaitForCommunication;
  };
  const Nanoseconds interrupted = rank.ending.interrupted;
  return std::any_of(rank.ending.ranges.begin(), rank.ending.ranges.end(), is_wait) ||
         (interrupted != kUnknownTime &&
          std::any_of(rank.host_ranges.begin(), rank.host_ranges.end(), [&](const HostRange& range) {
            return range.begin <= interrupted && range.end >= interrupted && is_wait(range.name);
          }));
}

// How long until the recording ended; 0 where nobody knows when it did.
Nanoseconds waited_in(const Ending& ending, const OpenOperation& operation) {
  const Nanoseconds until = waited_until(ending);
  return until == kUnknownTime ? 0 : std::max<Nanoseconds>(until - operation.begin, 0);
}

bool has_come(const RankTrace& rank, const OperationKey& key) {
  return std::any_of(rank.communications.begin(), rank.communications.end(),
                     [&](const Communication& c) {
                       return c.group == key.group && c.sequence == key.sequence &&
                              !is_point_to_point(c.operation);
                     }) ||
         std::any_of(rank.ending.progress.begin(), rank.ending.progress.end(),
                     [&](const GroupProgress& progress) {
                       return progress.group == key.group && key.sequence != kNoSequence &&
                              std::max(progress.issued, progress.ended) >= key.sequence;
                     });
}

// What the file says of a rank that has not come: that it did not, or nothing, as the part that would tell is
// lost. The rank's own counters tell all the same, where they were read.
bool is_known_absent(const RankTrace& rank, const OperationKey& key, Nanoseconds since) {
  if (!rank.was_lost_within(since, std::numeric_limits<Nanoseconds>::max())) return true;
  if (key.is_message() || key.sequence == kNoSequence) return false;
  return std::any_of(rank.ending.progress.begin(), rank.ending.progress.end(),
                     [&](const GroupProgress& progress) {
                       return progress.group == key.group && progress.issued != kNoSequence &&
                              progress.issued < key.sequence;
                     });
}

const RankTrace* trace_of(const Job& job, std::int32_t rank) {
  const auto found = std::find_if(job.ranks.begin(), job.ranks.end(),
                                  [&](const RankTrace& candidate) { return candidate.rank == rank; });
  return found == job.ranks.end() ? nullptr : &*found;
}

void add(HungOperations& hung, const OperationKey& key, const HungRank& waiting) {
  const auto [where, fresh] = hung.try_emplace(key);
  if (fresh || waiting.operation.begin < where->second.since) where->second.since = waiting.operation.begin;
  where->second.waiting.push_back(waiting);
}

void add_open(const Job& job, std::size_t index, HungOperations& hung) {
  const RankTrace& rank = job.ranks[index];
  // Between two ranks the sends of one meet the receives of the other in order. Their numbers count each
  // rank's messages with all its peers, and say nothing of that.
  std::map<std::tuple<std::uint32_t, std::int32_t, std::int32_t>, std::int64_t> messages;
  for (const OpenOperation& operation : rank.ending.operations) {
    if (!is_hung(rank, operation)) continue;
    OperationKey key{operation.group, operation.sequence};
    if (is_message(operation)) {
      if (operation.may_have_ended || !is_waited_for(job, rank)) continue;
      key.source = operation.operation == Operation::send ? rank.rank : operation.peer;
      key.destination = operation.operation == Operation::send ? operation.peer : rank.rank;
      key.sequence = messages[{key.group, key.source, key.destination}]++;
    }
    add(hung, key, {index, operation, waited_in(rank.ending, operation), false});
  }
}

// Operations of a group end in the order of their numbers. An open one of a number at which another rank
// hangs, or of a later one, never ended either, however short it is beside its rank's others: that rank has
// come.
void add_open_beside_hung(const Job& job, HungOperations& hung) {
  std::map<std::uint32_t, std::int64_t> first;  // by group: the lowest number that hangs
  for (const auto& [key, operation] : hung) {
    if (key.is_message() || key.group == kNone || key.sequence == kNoSequence) continue;
    const auto [where, fresh] = first.try_emplace(key.group, key.sequence);
    where->second = std::min(where->second, key.sequence);
  }
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const RankTrace& rank = job.ranks[i];
    for (const OpenOperation& operation : rank.ending.operations) {
      if (is_message(operation) || is_hung(rank, operation)) continue;
      const auto hangs = first.find(operation.group);
      if (hangs == first.end() || operation.sequence == kNoSequence || operation.sequence < hangs->second)
        continue;
      add(hung, {operation.group, operation.sequence},
          {i, operation, waited_in(rank.ending, operation), false});
    }
  }
}

// Of a job that failed, and whose hang nobody noted: the rank waited as long as in a hang, for ranks that
// were still there when it had waited enough, and did nothing more. Where they were gone, or the first to end
// by themselves, they are why it failed.
// `failed`: that one; nullptr where there is none.
bool gave_up_waiting(const Job& job, const RankTrace* failed, const UnansweredCollective& collective,
                     const Participant& participant) {
  if (!job.end.signal.has_value() && job.end.exit_code.value_or(0) == 0) return false;
  const RankTrace& rank = job.ranks[participant.rank];
  if (!is_as_long_as_a_hang(time_in(job, participant), longest_operation(rank, participant.begin)))
    return false;
  const bool went_on =
      std::any_of(rank.communications.begin(), rank.communications.end(), [&](const Communication& other) {
        return other.activity < rank.activities.size() &&
               rank.activities[other.activity].begin > participant.end;
      });
  return !went_on &&
         std::all_of(collective.missing.begin(), collective.missing.end(), [&](std::int32_t number) {
           const RankTrace* const missing = trace_of(job, number);
           return missing != nullptr && missing != failed && may_have_run_until(*missing, participant.end);
         });
}

// Collectives that some rank never came to, and that those who came have left by a timeout of their own, are
// as hung as open ones.
void add_given_up(const Job& job, HungOperations& hung) {
  // Where one left a collective out, all wait for somebody: a finding of its own says that.
  const bool one_was_left_out = !find_skipped(job).empty();
  const std::size_t first = first_to_end(job);
  const RankTrace* const failed =
      first != kNone && job.ranks[first].ending.closed ? &job.ranks[first] : nullptr;
  for (const UnansweredCollective& collective : find_unanswered(job)) {
    for (const Participant& participant : collective.participants) {
      const Nanoseconds noted = job.ranks[participant.rank].ending.hang_noted;
      if (participant.end == kUnknownTime || time_in(job, participant) < kHungAfter) continue;
      const bool was_noted = noted != kUnknownTime && participant.begin <= noted;
      if (!was_noted && (one_was_left_out || !gave_up_waiting(job, failed, collective, participant)))
        continue;
      OpenOperation operation;
      operation.begin = participant.begin;
      operation.name = participant.name;
      operation.group = collective.group;
      operation.operation = participant.operation;
      operation.sequence = collective.sequence;
      add(hung, {collective.group, collective.sequence},
          {participant.rank, operation, time_in(job, participant), true});
    }
  }
}

// A device works off a group's operations in order.
void find_those_behind(const Job& job, HungOperations& hung) {
  std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> first;  // by rank and group
  for (const auto& [key, operation] : hung) {
    if (key.is_message() || key.group == kNone || key.sequence == kNoSequence) continue;
    for (const HungRank& one : operation.waiting) {
      if (one.gave_up) continue;
      const auto [where, fresh] = first.try_emplace({one.rank, key.group}, key.sequence);
      where->second = std::min(where->second, key.sequence);
    }
  }
  for (auto& [key, operation] : hung) {
    for (HungRank& one : operation.waiting) {
      if (one.gave_up || job.ranks[one.rank].device == "cpu") continue;
      const auto where = first.find({one.rank, key.group});
      const bool has_earlier = !key.is_message() && where != first.end() && where->second < key.sequence;
      one.behind = !one.operation.begun || has_earlier;
    }
  }
}

bool are_members_known(const Job& job, std::uint32_t group) {
  if (group == kNone) return false;
  const JobGroup& members = job.groups[group];
  return !members.ranks.empty() && !members.may_have_others &&
         static_cast<std::size_t>(std::max(members.size, 0)) <= members.ranks.size();
}

// Who of the group did not come, as far as anybody knows.
// `ended`: null where ends need not be ends.
void find_missing(const Job& job, const EndedOperations* ended, const OperationKey& key,
                  HungOperation& hung) {
  std::set<std::int32_t> there;
  for (const HungRank& waiting : hung.waiting) there.insert(job.ranks[waiting.rank].rank);
  const auto absent = [&](std::int32_t rank) {
    const RankTrace* const trace = trace_of(job, rank);
    const bool known = trace != nullptr && is_known_absent(*trace, key, hung.since);
    (known ? hung.missing : hung.unknown).push_back(rank);
  };
  if (is_message(hung.waiting.front().operation)) {
    for (const std::int32_t side : {key.source, key.destination})
      if (side != kNoRank && !there.contains(side)) absent(side);
    return;
  }
  hung.members_known = are_members_known(job, key.group);
  if (key.group == kNone) return;
  const std::vector<std::int32_t>& members = job.groups[key.group].ranks;
  if (ended != nullptr && key.sequence != kNoSequence &&
      is_n_to_n(hung.waiting.front().operation.operation)) {
    hung.ended_elsewhere = std::any_of(members.begin(), members.end(), [&](std::int32_t rank) {
      return !there.contains(rank) && ended->has(rank, key.group, key.sequence);
    });
    if (hung.ended_elsewhere) return;
  }
  for (const std::int32_t rank : members) {
    if (there.contains(rank)) continue;
    const RankTrace* const trace = trace_of(job, rank);
    if (trace == nullptr || !has_come(*trace, key)) absent(rank);
  }
}

// Of an operation whose end nobody records it is only known that it hung where a rank that has a trace did
// not come.
bool is_doubtful(const HungOperation& hung) {
  const bool ends_known = std::any_of(hung.waiting.begin(), hung.waiting.end(),
                                      [](const HungRank& one) { return !one.operation.may_have_ended; });
  return !ends_known && hung.missing.empty();
}

}  // namespace

HungOperations find_hung_operations(const Job& job) {
  HungOperations hung;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) add_open(job, i, hung);
  add_open_beside_hung(job, hung);
  add_given_up(job, hung);
  // Flight recorders tell ends from failures. Elsewhere an operation may have ended by a timeout of its own,
  // or because a rank died.
  std::optional<EndedOperations> ended;
  if (job.dumps != Dumps::none) ended.emplace(job);
  for (auto& [key, operation] : hung) find_missing(job, ended ? &*ended : nullptr, key, operation);
  std::erase_if(hung, [](const auto& one) { return is_doubtful(one.second); });
  find_those_behind(job, hung);
  return hung;
}

std::set<std::int32_t> ranks_that_hold_up(const Job& job, const HungOperations& hung,
                                          const std::set<std::int32_t>& stuck) {
  std::set<std::int32_t> waited_for;
  std::set<std::int32_t> wait;
  bool waits_for_unknown = false;
  for (const auto& [key, operation] : hung) {
    for (const HungRank& waiting : operation.waiting) {
      const std::int32_t rank = job.ranks[waiting.rank].rank;
      if (stuck.contains(rank) || (operation.missing.empty() && operation.unknown.empty())) continue;
      wait.insert(rank);
      waits_for_unknown = waits_for_unknown || operation.missing.empty();
      waited_for.insert(operation.missing.begin(), operation.missing.end());
    }
  }
  std::set<std::int32_t> roots;
  std::set_difference(waited_for.begin(), waited_for.end(), wait.begin(), wait.end(),
                      std::inserter(roots, roots.end()));
  // They wait for each other, or some for a rank of which nobody knows.
  if (roots.empty() && !waits_for_unknown) roots = waited_for;
  return roots;
}

}  // namespace lockstep::analyzer
