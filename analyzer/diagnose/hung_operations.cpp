#include "analyzer/diagnose/hung_operations.h"

#include <algorithm>
#include <set>

#include "analyzer/diagnose/unanswered.h"

namespace lockstep::analyzer {
namespace {

// Where nobody noted a hang, an operation counts as hung that lasts at least this long, and this many times
// as long as the longest that ended: a job may be killed in the midst of any.
constexpr Nanoseconds kLongEnough = 5'000'000'000;
constexpr Nanoseconds kTimesTheLongest = 10;

Nanoseconds longest_operation(const RankTrace& rank) {
  Nanoseconds longest = 0;
  for (const Communication& communication : rank.communications) {
    if (communication.activity >= rank.activities.size()) continue;
    const Activity& activity = rank.activities[communication.activity];
    longest = std::max(longest, activity.end - activity.begin);
  }
  return longest;
}

bool is_hung(const RankTrace& rank, const OpenOperation& operation) {
  const Ending& ending = rank.ending;
  if (ending.hang_noted != kUnknownTime) return operation.begin <= ending.hang_noted;
  if (ending.recorded_until == kUnknownTime) return false;
  const Nanoseconds waited = ending.recorded_until - operation.begin;
  return waited >= kLongEnough && waited / kTimesTheLongest >= longest_operation(rank);
}

bool has_finished(const RankTrace& rank, const OperationKey& key) {
  return std::any_of(rank.communications.begin(), rank.communications.end(), [&](const Communication& c) {
    return c.group == key.first && c.sequence == key.second;
  });
}

void add(HungOperations& hung, const HungRank& waiting) {
  const OpenOperation& operation = waiting.operation;
  const auto [where, fresh] = hung.try_emplace(OperationKey{operation.group, operation.sequence});
  if (fresh || operation.begin < where->second.since) where->second.since = operation.begin;
  where->second.waiting.push_back(waiting);
}

// Collectives that some rank never came to, and that those who came have left by a timeout of their own, are
// as hung as open ones.
void add_given_up(const Job& job, HungOperations& hung) {
  for (const UnansweredCollective& collective : find_unanswered(job)) {
    for (const Comer& comer : collective.came) {
      if (comer.end == kUnknownTime || time_in(job, comer) < kLongEnough) continue;
      OpenOperation operation;
      operation.begin = comer.begin;
      operation.name = comer.name;
      operation.group = collective.group;
      operation.operation = comer.operation;
      operation.sequence = collective.sequence;
      add(hung, {comer.rank, operation, time_in(job, comer), true});
    }
  }
}

}  // namespace

HungOperations find_hung_operations(const Job& job) {
  HungOperations hung;
  bool noted = false;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const Ending& ending = job.ranks[i].ending;
    noted = noted || ending.hang_noted != kUnknownTime;
    const Nanoseconds until = std::max(ending.recorded_until, ending.hang_noted);  // one is known
    for (const OpenOperation& operation : ending.operations)
      if (is_hung(job.ranks[i], operation)) add(hung, {i, operation, until - operation.begin, false});
  }
  if (noted) add_given_up(job, hung);
  return hung;
}

std::vector<std::int32_t> missing_ranks(const Job& job, const OperationKey& key, const HungOperation& hung) {
  std::set<std::int32_t> there;
  for (const HungRank& waiting : hung.waiting) there.insert(job.ranks[waiting.rank].rank);
  std::vector<std::int32_t> missing;
  const OpenOperation& operation = hung.waiting.front().operation;
  if (operation.operation == Operation::send || operation.operation == Operation::recv) {
    if (operation.peer != kNoRank) missing.push_back(operation.peer);
    return missing;
  }
  if (key.first == kNone) return missing;
  for (const std::int32_t rank : job.groups[key.first].ranks) {
    if (there.contains(rank)) continue;
    const auto trace = std::find_if(job.ranks.begin(), job.ranks.end(),
                                    [&](const RankTrace& candidate) { return candidate.rank == rank; });
    if (trace == job.ranks.end() || !has_finished(*trace, key)) missing.push_back(rank);
  }
  return missing;
}

}  // namespace lockstep::analyzer
