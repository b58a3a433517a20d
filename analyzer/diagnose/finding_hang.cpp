// A job that hung: the operation that never ended, who waits in it and who never came.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "analyzer/diagnose/finding_rules.h"
#include "analyzer/diagnose/hung_operations.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kMostNamed = 8;
constexpr std::size_t kMostOthers = 3;

std::string named(const std::vector<std::int32_t>& ranks) {
  const std::vector<std::int32_t> first(
      ranks.begin(), ranks.begin() + std::min<std::ptrdiff_t>(kMostNamed, std::ssize(ranks)));
  return fmt::format("{} {}{}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(first, ", "),
                     ranks.size() > kMostNamed ? ", …" : "");
}

// "group data parallel, number 3"
std::string describe_place(const Job& job, const OperationKey& key) {
  std::string where;
  if (key.first != kNone && !job.groups[key.first].name.empty())
    where = fmt::format("group {}", job.groups[key.first].name);
  if (key.second != kNoSequence) where += fmt::format("{}number {}", where.empty() ? "" : ", ", key.second);
  return where;
}

std::string describe(const Job& job, const OperationKey& key, const OpenOperation& operation) {
  std::string text(job.strings.view(operation.name));
  if (text.empty()) text = trace::to_string(operation.operation);
  const std::string where = describe_place(job, key);
  return where.empty() ? text : fmt::format("{} ({})", text, where);
}

// What is known of a rank that did not come.
std::string describe_missing(const Job& job, std::int32_t number) {
  const auto found = std::find_if(job.ranks.begin(), job.ranks.end(),
                                  [&](const RankTrace& rank) { return rank.rank == number; });
  if (found == job.ranks.end()) return fmt::format("rank {} left no trace", number);
  const RankTrace& rank = *found;
  std::vector<std::string> parts;
  if (!rank.ending.operations.empty())
    parts.push_back(fmt::format("is in {}", job.strings.view(rank.ending.operations.front().name)));
  if (!rank.ending.ranges.empty())
    parts.push_back(fmt::format("is in \"{}\"", job.strings.view(rank.ending.ranges.back())));
  const Communication* last = nullptr;
  for (const Communication& communication : rank.communications)
    if (communication.activity < rank.activities.size()) last = &communication;
  if (last != nullptr) {
    parts.push_back(
        fmt::format("ended {}{} before", job.strings.view(rank.activities[last->activity].name),
                    last->sequence != kNoSequence ? fmt::format(" number {}", last->sequence) : ""));
  }
  if (!rank.ending.doing.empty()) parts.push_back(fmt::format("its stack: {}", rank.ending.doing));
  if (parts.empty()) parts.emplace_back("recorded nothing of what it did");
  return fmt::format("rank {} {}", number, fmt::join(parts, "; "));
}

// Silent when the recorder looked, and ever since. A process that ended by itself had something else to do: a
// long import, writing results.
bool is_silent(const RankTrace& rank) {
  const Nanoseconds noted = rank.ending.hang_noted;
  if (noted == kUnknownTime || rank.ending.closed) return false;
  const auto later = [&](const auto& event) { return event.end > noted; };
  return std::none_of(rank.activities.begin(), rank.activities.end(), later) &&
         std::none_of(rank.steps.begin(), rank.steps.end(), later);
}

// Nobody is in an operation that the trace knows of.
void find_silence(const Job& job, std::vector<Finding>& findings) {
  std::vector<std::int32_t> silent;
  for (const RankTrace& rank : job.ranks)
    if (is_silent(rank)) silent.push_back(rank.rank);
  if (silent.empty()) return;
  Finding finding;
  finding.code = "hang";
  finding.severity = "high";
  finding.title = fmt::format("the job hung: {} ended no step and no operation any more, and {} in none",
                              named(silent), silent.size() == 1 ? "is" : "are");
  for (std::size_t i = 0; i < std::min(kMostNamed, silent.size()); ++i)
    finding.evidence.push_back(describe_missing(job, silent[i]));
  finding.remedy = fmt::format("look at the stacks in hang-rank-{}.json of the run", silent.front());
  findings.push_back(std::move(finding));
}

// "rank 0 in all_reduce, rank 1 in barrier", where ranks came to different operations under one number; empty
// where all came to the same, or where nobody knows.
std::string describe_disagreement(const Job& job, const OperationKey& key, const HungOperation& hung) {
  if (key.second == kNoSequence) return {};
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
                     const std::vector<std::int32_t>& missing, const std::string& disagreement) {
  if (!disagreement.empty())
    return fmt::format("the job hung in different operations ({}): {}", describe_place(job, key),
                       disagreement);
  const std::string what = describe(job, key, hung.waiting.front().operation);
  return missing.empty() ? fmt::format("the job hung in {}: all of its ranks are in it", what)
                         : fmt::format("the job hung in {}: {} never came", what, named(missing));
}

std::string remedy_of(const std::vector<std::int32_t>& missing, bool disagree) {
  if (disagree) {
    return "the ranks' operations went out of step: one of them left one out, or made one too many; look for "
           "a branch, a `continue` or an exception handler that only some ranks take. Their stacks stand in "
           "hang-rank-N.json of the run, if it was recorded with --hang-timeout";
  }
  if (missing.empty()) {
    return "look at the network and the driver: every rank has issued it. The stacks of all ranks stand in "
           "hang-rank-N.json of the run, if it was recorded with --hang-timeout";
  }
  return fmt::format(
      "find out what keeps {} from issuing it: a branch that only some ranks take, data that ran out, an "
      "exception. Its stacks stand in hang-rank-{}.json of the run, if it was recorded with --hang-timeout",
      named(missing), missing.front());
}

// Who waits, for how long, and whether they gave up.
void describe_waiting(const Job& job, const HungOperation& hung, Finding& finding) {
  std::vector<std::int32_t> waiting;
  std::vector<std::int32_t> gone;
  Nanoseconds waited = 0;
  for (const HungRank& one : hung.waiting) {
    (one.gave_up ? gone : waiting).push_back(job.ranks[one.rank].rank);
    waited = std::max(waited, one.waited);
  }
  if (!waiting.empty())
    finding.evidence.push_back(fmt::format("{} {} in it, the first for {}", named(waiting),
                                           waiting.size() == 1 ? "waits" : "wait", format_duration(waited)));
  if (!gone.empty())
    finding.evidence.push_back(
        fmt::format("{} waited in it, the first for {}, and gave up", named(gone), format_duration(waited)));
}

}  // namespace

void find_hang(const FindingContext& context, std::vector<Finding>& findings) {
  const Job& job = context.diagnosis.job;
  const HungOperations hung = find_hung_operations(job);
  if (hung.empty()) return find_silence(job, findings);
  // The first that got stuck; the others may wait for the same ranks.
  const auto first = std::min_element(
      hung.begin(), hung.end(), [](const auto& a, const auto& b) { return a.second.since < b.second.since; });
  const auto& [key, operation] = *first;
  const std::vector<std::int32_t> missing = missing_ranks(job, key, operation);
  const std::string disagreement = describe_disagreement(job, key, operation);
  Finding finding;
  finding.code = "hang";
  finding.severity = "high";
  finding.title = title_of(job, key, operation, missing, disagreement);
  describe_waiting(job, operation, finding);
  for (std::size_t i = 0; i < std::min(kMostNamed, missing.size()); ++i)
    finding.evidence.push_back(describe_missing(job, missing[i]));
  if (missing.empty()) {
    for (std::size_t i = 0; i < std::min(kMostNamed, operation.waiting.size()); ++i) {
      const RankTrace& rank = job.ranks[operation.waiting[i].rank];
      if (!rank.ending.doing.empty())
        finding.evidence.push_back(fmt::format("rank {}'s stack: {}", rank.rank, rank.ending.doing));
    }
  }
  std::size_t others = 0;
  for (const auto& [other, also] : hung) {
    if (other == key || ++others > kMostOthers) continue;
    std::vector<std::int32_t> ranks;
    for (const HungRank& one : also.waiting) ranks.push_back(job.ranks[one.rank].rank);
    finding.evidence.push_back(fmt::format("{} {} in {}", named(ranks), ranks.size() == 1 ? "waits" : "wait",
                                           describe(job, other, also.waiting.front().operation)));
  }
  if (std::any_of(operation.waiting.begin(), operation.waiting.end(),
                  [](const HungRank& one) { return !one.gave_up; }))
    finding.evidence.emplace_back(
        "an operation that never ended has no length: this time is in none of the figures");
  finding.remedy = remedy_of(missing, !disagreement.empty());
  findings.push_back(std::move(finding));
}

}  // namespace lockstep::analyzer
