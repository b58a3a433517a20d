#include "analyzer/diagnose/hang_sentences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyzer/diagnose/hang_looks.h"
#include "analyzer/diagnose/hang_words.h"

namespace lockstep::analyzer::hang {
namespace {

// Where to see what a rank does; of none in particular, what all do. For how long a silence has to
// last the trace does not tell: a run that ended before looks like one that looked for none.
std::string where_to_look(const Job& job, const std::vector<std::int32_t>& ranks) {
  if (!has_stacks(job))
    return "Flight recorders hold no stacks of ranks that issue nothing: `lockstep record` writes those of every "
           "rank down, Python's and native ones, after a silence of 5 minutes (`--hang-timeout` sets another time)";
  const bool written = std::any_of(job.ranks.begin(), job.ranks.end(), [&](const RankTrace& rank) {
    return !rank.ending.doing.empty() &&
           (ranks.empty() || std::find(ranks.begin(), ranks.end(), rank.rank) != ranks.end());
  });
  if (!written && is_any_last_seen(job, ranks))
    return fmt::format(
        "{} last seen in {} above; `lockstep record` with a `--hang-timeout` shorter than this silence writes "
        "the stacks of all threads down (by default it is 5 minutes)",
        ranks.size() == 1 ? "The line that it was" : "The lines that they were",
        ranks.size() == 1 ? "stands" : "stand");
  if (!written)
    return fmt::format(
        "{} not written down: `lockstep record` with a `--hang-timeout` shorter than this silence does so (by "
        "default it is 5 minutes)",
        ranks.size() == 1 ? "Its stacks were" : "Their stacks were");
  return fmt::format("{} in hang-rank-{}.json of the run",
                     ranks.size() == 1 ? "Its stacks stand" : "Their stacks stand",
                     ranks.size() == 1 ? fmt::to_string(ranks.front()) : "N");
}

// With neither side's name for it.
std::string describe_message(const Job& job, const OperationKey& key) {
  const std::string where = describe_place(job, key);
  return fmt::format("a message from rank {} to rank {}{}", key.source, key.destination,
                     where.empty() ? "" : fmt::format(" ({})", where));
}

// Of all ranks it is known, and all are there.
bool is_of_one_host(const Job& job) {
  return job.ranks_missing.empty() && !job.ranks.empty() && !job.ranks.front().host.empty() &&
         std::all_of(job.ranks.begin(), job.ranks.end(),
                     [&](const RankTrace& rank) { return rank.host == job.ranks.front().host; });
}

// Each rank that waits in the operation of this key is in others of its group too, in the same ones as every
// other rank: only the order differs.
bool differ_in_order_alone(const HungOperations& hung, const OperationKey& key) {
  std::map<std::size_t, std::vector<Operation>> of_ranks;
  for (const HungRank& one : hung.at(key).waiting) of_ranks[one.rank];
  for (const auto& [other, operation] : hung) {
    if (other.group != key.group || other.is_message()) continue;
    for (const HungRank& one : operation.waiting)
      if (const auto rank = of_ranks.find(one.rank); rank != of_ranks.end() && !one.gave_up)
        rank->second.push_back(one.operation.operation);
  }
  for (auto& [rank, operations] : of_ranks) std::sort(operations.begin(), operations.end());
  const std::vector<Operation>& first = of_ranks.begin()->second;
  return first.size() > 1 && std::all_of(of_ranks.begin(), of_ranks.end(),
                                         [&](const auto& rank) { return rank.second == first; });
}

}  // namespace

std::string describe_disagreement(const Job& job, const OperationKey& key, const HungOperation& hung) {
  if (key.sequence == kNoSequence) return {};
  std::map<Operation, std::vector<std::int32_t>> by_operation;
  for (const HungRank& one : hung.waiting)
    by_operation[one.operation.operation].push_back(job.ranks[one.rank].rank);
  // Messages have numbers of their own.
  for (const Operation other : {Operation::unknown, Operation::send, Operation::recv, Operation::send_recv})
    by_operation.erase(other);
  if (by_operation.size() < 2) return {};
  std::vector<std::string> parts;
  parts.reserve(by_operation.size());
  for (const auto& [operation, ranks] : by_operation)
    parts.push_back(fmt::format("{} in {}", named(ranks), trace::to_string(operation)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string title_of(const Job& job, const OperationKey& key, const HungOperation& hung,
                     const std::string& disagreement) {
  const std::vector<std::int32_t>& missing = hung.missing;
  if (!disagreement.empty())
    return fmt::format("the job hung in different operations ({}): {}", describe_place(job, key),
                       disagreement);
  const bool both_sides = key.is_message() && hung.waiting.size() > 1;
  const std::string what =
      both_sides ? describe_message(job, key) : describe(job, key, hung.waiting.front().operation);
  if (!missing.empty()) return fmt::format("the job hung in {}: {} never came", what, named(missing));
  if (!hung.unknown.empty())
    return fmt::format("the job hung in {}: {}, and whether {} came cannot be told", what,
                       why_unknown(job, hung.unknown), hung.unknown.size() == 1 ? "it" : "they");
  if (hung.ended_elsewhere) return fmt::format("{} did not end on all of its ranks", what);
  const bool all_in_it =
      std::none_of(hung.waiting.begin(), hung.waiting.end(), [](const HungRank& one) { return one.behind; });
  if (!hung.members_known)
    return fmt::format(
        "the job hung in {}: all ranks that are known of its group {} it, and it may have others", what,
        all_in_it ? "are in" : "have issued");
  return fmt::format("the job hung in {}: {} of its ranks {} it", what, both_sides ? "both" : "all",
                     all_in_it ? "are in" : "have issued");
}

std::string remedy_of_disagreement(const Job& job, const HungOperations& hung, const OperationKey& key) {
  if (differ_in_order_alone(hung, key))
    return "the ranks are in the same operations, issued in different orders: several threads of a rank use one group "
           "at once (give each a group of its own, an asynchronous checkpoint its `process_group`), or ranks go "
           "through a set or a dictionary in different orders. " +
           where_to_look(job, {});
  return "the ranks' operations went out of step: one of them left one out, or made one too many; look for "
         "a branch, a `continue` or an exception handler that only some ranks take. " +
         where_to_look(job, {});
}

std::string remedy_of(const Job& job, const HungOperation& hung, const std::set<std::int32_t>& stuck) {
  const std::vector<std::int32_t>& missing = hung.missing;
  if (!missing.empty() &&
      std::all_of(missing.begin(), missing.end(), [&](std::int32_t rank) { return stuck.contains(rank); }))
    return fmt::format("{} cannot come: {} stands still, as a finding of its own says; begin there",
                       named(missing), missing.size() == 1 ? "its device" : "each one's device");
  if (missing.empty() && !hung.unknown.empty())
    return fmt::format(
        "{}, and analyze again: who never came is among them, or all came and the network or a device stands "
        "still",
        what_to_collect(job, hung.unknown));
  if (missing.empty() && !hung.members_known)
    return fmt::format(
        "see that the {}s of all ranks are here, and analyze again: which ranks the group has is not told, "
        "and one that is not here may never have come. Else look at the network and the driver",
        file_of(job));
  if (missing.empty() && is_of_one_host(job))
    return "every rank has issued it, and no network is between them: look for what keeps it from going on (a lock, or "
           "a callback that waits for another collective on the thread that carries this one out), then at the driver. " +
           where_to_look(job, {});
  if (missing.empty())
    return "look at the network and the driver: every rank has issued it. " + where_to_look(job, {});
  return fmt::format(
      "find out what keeps {} from issuing it: a branch that only some ranks take, data that ran out, an "
      "exception. {}",
      named(missing), where_to_look(job, missing));
}

std::string remedy_of_other_arguments(const Job& job, const std::string& about) {
  return fmt::format("every rank has to give it the same {}: see what each takes it from. {}", about,
                     where_to_look(job, {}));
}

}  // namespace lockstep::analyzer::hang
