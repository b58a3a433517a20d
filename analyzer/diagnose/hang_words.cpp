#include "analyzer/diagnose/hang_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/diagnose/hang_looks.h"
#include "base/number_lists.h"

namespace lockstep::analyzer::hang {

namespace {

// "dump of rank 3", "dumps of ranks 3, 4"
std::string files_of(const Job& job, const std::vector<std::int32_t>& ranks) {
  return fmt::format("{}{} of {}", file_of(job), ranks.size() == 1 ? "" : "s", named(ranks));
}

bool is_message(const OpenOperation& operation) {
  return operation.operation == Operation::send || operation.operation == Operation::recv;
}

// A source that does not know what an operation does knows its name all the same.
bool are_same(const OpenOperation& a, const OpenOperation& b) {
  if (a.name != b.name || (is_message(a) && a.peer != b.peer)) return false;
  return a.operation == b.operation || a.operation == Operation::unknown || b.operation == Operation::unknown;
}

std::string name_of(const Job& job, const OpenOperation& operation) {
  std::string text(job.strings.view(operation.name));
  if (text.empty()) text = trace::to_string(operation.operation);
  if (!is_message(operation) || operation.peer == kNoRank) return text;
  const std::string peer = fmt::format(" rank {}", operation.peer);
  if (text.ends_with(peer)) return text;
  return fmt::format("{} {}{}", text, operation.operation == Operation::send ? "to" : "from", peer);
}

std::string with_place(const Job& job, const OperationKey& key, const std::string& text) {
  const std::string where = describe_place(job, key);
  return where.empty() ? text : fmt::format("{} ({})", text, where);
}

std::string say_ended(const Job& job, std::uint32_t name, std::int64_t sequence) {
  const std::string_view what = job.strings.view(name);
  return fmt::format("ended {}{} before", what.empty() ? "an operation" : what,
                     sequence != kNoSequence ? fmt::format(" number {}", sequence) : "");
}

const Communication* last_communication(const RankTrace& rank) {
  const Communication* last = nullptr;
  for (const Communication& communication : rank.communications)
    if (communication.activity < rank.activities.size()) last = &communication;
  return last;
}

// The last that it ended, as others show, or as it says itself; empty where nobody does.
std::string what_it_ended(const Job& job, const RankTrace& rank, const std::optional<EndedTogether>& shown) {
  if (shown) return say_ended(job, shown->name, shown->sequence);
  if (const std::optional<EndedOperation>& last = rank.ending.last_ended)
    return say_ended(job, last->name, last->sequence);
  const Communication* const last = last_communication(rank);
  return last == nullptr ? "" : say_ended(job, rank.activities[last->activity].name, last->sequence);
}

// The last that it issued of the operation's group, where no record of it is left; else empty.
std::string what_it_issued(const RankTrace& rank, const OperationKey& key) {
  if (key.group == kNone || key.is_message() || last_communication(rank) != nullptr) return {};
  const auto progress = std::find_if(rank.ending.progress.begin(), rank.ending.progress.end(),
                                     [&](const GroupProgress& one) { return one.group == key.group; });
  if (progress == rank.ending.progress.end() || progress->issued == kNoSequence) return {};
  return fmt::format("issued number {} of this group last", progress->issued);
}

// How far it came in each of its groups: which of them it was in last its counters don't tell.
std::string what_it_counted(const Job& job, const RankTrace& rank) {
  std::vector<std::string> parts;
  for (const GroupProgress& one : rank.ending.progress) {
    const std::int64_t number = std::max(one.issued, one.ended);
    if (one.group == kNone || number == kNoSequence) continue;
    if (parts.size() == kMaxNamed) {
      parts.emplace_back("…");
      break;
    }
    const std::string group = describe_place(job, {one.group});
    parts.push_back(fmt::format("number {} of {}", number, group.empty() ? "a group" : group));
  }
  return parts.empty() ? "" : fmt::format("came to {} last", fmt::join(parts, ", "));
}

}  // namespace

std::vector<RanksInOne> by_operation(const Job& job, const std::vector<HungRank>& those) {
  std::vector<RanksInOne> all;
  for (const HungRank& one : those) {
    auto same = std::find_if(all.begin(), all.end(), [&](const RanksInOne& other) {
      return are_same(other.operation, one.operation);
    });
    if (same == all.end()) {
      std::string what = name_of(job, one.operation);
      // One name for different operations tells them not apart.
      if (std::any_of(all.begin(), all.end(), [&](const RanksInOne& other) { return other.what == what; }))
        what = trace::to_string(one.operation.operation);
      all.push_back({{}, one.operation, std::move(what), 0});
      same = std::prev(all.end());
    }
    same->ranks.push_back(job.ranks[one.rank].rank);
    same->waited = std::max(same->waited, one.waited);
  }
  return all;
}

std::string named(const std::vector<std::int32_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + list_numbers(ranks, kMaxNamed);
}

std::string describe_place(const Job& job, const OperationKey& key) {
  std::string where;
  if (key.group != kNone && !job.groups[key.group].name.empty()) {
    const JobGroup& group = job.groups[key.group];
    where = fmt::format("group {}", group.name);
    // The description may begin with the name: "default_pg (pipeline)".
    if (group.description.starts_with(group.name))
      where = fmt::format("group {}", group.description);
    else if (!group.description.empty())
      where += fmt::format(" {}", group.description);
    // Megatron's groups of one kind have one name.
    const auto of_this_name = std::count_if(job.groups.begin(), job.groups.end(),
                                            [&](const JobGroup& other) { return other.name == group.name; });
    if (of_this_name > 1 && !group.ranks.empty()) where += fmt::format(" of {}", named(group.ranks));
  }
  if (key.sequence != kNoSequence && !key.is_message())
    where += fmt::format("{}number {}", where.empty() ? "" : ", ", key.sequence);
  return where;
}

std::string describe(const Job& job, const OperationKey& key, const OpenOperation& operation) {
  return with_place(job, key, name_of(job, operation));
}

std::string describe(const Job& job, const OperationKey& key, const RanksInOne& one) {
  return with_place(job, key, one.what);
}

std::string describe_waits(const Job& job, const OperationKey& key, const std::vector<HungRank>& those) {
  std::vector<std::string> parts;
  const std::vector<RanksInOne> all = by_operation(job, those);
  for (std::size_t i = 0; i < std::min(all.size(), kMaxNamed); ++i)
    parts.push_back(fmt::format("{} {} in {}", named(all[i].ranks),
                                all[i].ranks.size() == 1 ? "waits" : "wait", all[i].what));
  if (all.size() > kMaxNamed) parts.emplace_back("…");
  return with_place(job, key, fmt::format("{}", fmt::join(parts, "; ")));
}

bool has_stacks(const Job& job) {
  return job.dumps == Dumps::none;
}

std::string file_of(const Job& job) {
  return has_stacks(job) ? "trace" : "dump";
}

UnknownRanks sort_unknown(const Job& job, const std::vector<std::int32_t>& unknown) {
  UnknownRanks ranks;
  for (const std::int32_t number : unknown) {
    const bool there = std::any_of(job.ranks.begin(), job.ranks.end(),
                                   [&](const RankTrace& rank) { return rank.rank == number; });
    (there ? ranks.damaged : ranks.without_trace).push_back(number);
  }
  return ranks;
}

std::string what_is_known_of(const Job& job, const ShownByOthers& others, const OperationKey& key,
                             std::int32_t number, Looks looks) {
  const auto found = std::find_if(job.ranks.begin(), job.ranks.end(),
                                  [&](const RankTrace& rank) { return rank.rank == number; });
  if (found == job.ranks.end()) return "left no trace";
  const RankTrace& rank = *found;
  std::vector<std::string> parts;
  if (!rank.ending.operations.empty())
    parts.push_back(fmt::format("is in {}", name_of(job, rank.ending.operations.front())));
  if (!rank.ending.ranges.empty())
    parts.push_back(fmt::format("is in \"{}\"", job.strings.view(rank.ending.ranges.back())));
  const std::optional<EndedTogether> shown =
      others.last_of(static_cast<std::size_t>(found - job.ranks.begin()));
  if (std::string ended = what_it_ended(job, rank, shown); !ended.empty()) parts.push_back(std::move(ended));
  if (!shown)
    if (std::string issued = what_it_issued(rank, key); !issued.empty()) parts.push_back(std::move(issued));
  if (!rank.ending.doing.empty())
    parts.push_back(fmt::format("its {}: {}", has_stacks(job) ? "stack" : "last call", rank.ending.doing));
  if (looks == Looks::told)
    if (std::string seen = where_last_seen(job, rank); !seen.empty()) parts.push_back(std::move(seen));
  if (parts.empty())
    if (std::string counted = what_it_counted(job, rank); !counted.empty())
      parts.push_back(std::move(counted));
  if (parts.empty()) parts.emplace_back("recorded nothing of what it did");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string why_unknown(const Job& job, const std::vector<std::int32_t>& unknown) {
  const UnknownRanks ranks = sort_unknown(job, unknown);
  std::vector<std::string> parts;
  if (!ranks.without_trace.empty())
    parts.push_back(fmt::format("{} left no trace", named(ranks.without_trace)));
  if (!ranks.damaged.empty())
    parts.push_back(fmt::format("the {} {} cut or damaged", files_of(job, ranks.damaged),
                                ranks.damaged.size() == 1 ? "is" : "are"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string what_to_collect(const Job& job, const std::vector<std::int32_t>& unknown) {
  const UnknownRanks ranks = sort_unknown(job, unknown);
  std::vector<std::string> parts;
  if (!ranks.without_trace.empty())
    parts.push_back(fmt::format("collect what {} recorded", named(ranks.without_trace)));
  if (!ranks.damaged.empty())
    parts.push_back(fmt::format("collect the {} again", files_of(job, ranks.damaged)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace lockstep::analyzer::hang
