// A job that hung: the operation that never ended, who waits in it and who never came.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/diagnose/finding_rules.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

// Where nobody noted a hang, an operation counts as hung that lasts at least this long, and this many times
// as long as the longest that ended: a job may be killed in the midst of any.
constexpr Nanoseconds kLongEnough = 5'000'000'000;
constexpr Nanoseconds kTimesTheLongest = 10;
constexpr std::size_t kMostNamed = 8;
constexpr std::size_t kMostOthers = 3;

struct Waiting {
  std::size_t rank = 0;  // index
  const OpenOperation* operation = nullptr;
};
// One operation over ranks: of a group and number; a message of its two sides only.
struct Hung {
  Nanoseconds since = 0;  // the first rank came
  std::vector<Waiting> waiting;
};
using Key = std::pair<std::uint32_t, std::int64_t>;

std::string named(const std::vector<std::int32_t>& ranks) {
  const std::vector<std::int32_t> first(
      ranks.begin(), ranks.begin() + std::min<std::ptrdiff_t>(kMostNamed, std::ssize(ranks)));
  return fmt::format("{} {}{}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(first, ", "),
                     ranks.size() > kMostNamed ? ", …" : "");
}

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

bool has_finished(const RankTrace& rank, const Key& key) {
  return std::any_of(rank.communications.begin(), rank.communications.end(), [&](const Communication& c) {
    return c.group == key.first && c.sequence == key.second;
  });
}

std::map<Key, Hung> hung_operations(const Job& job) {
  std::map<Key, Hung> hung;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    for (const OpenOperation& operation : job.ranks[i].ending.operations) {
      if (!is_hung(job.ranks[i], operation)) continue;
      const auto [where, fresh] = hung.try_emplace(Key{operation.group, operation.sequence});
      if (fresh || operation.begin < where->second.since) where->second.since = operation.begin;
      where->second.waiting.push_back({i, &operation});
    }
  }
  return hung;
}

// The ranks that the operation waits for: of its group, and neither in it nor through it.
std::vector<std::int32_t> missing_ranks(const Job& job, const Key& key, const Hung& hung) {
  std::set<std::int32_t> there;
  for (const Waiting& waiting : hung.waiting) there.insert(job.ranks[waiting.rank].rank);
  std::vector<std::int32_t> missing;
  const OpenOperation& operation = *hung.waiting.front().operation;
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

std::string describe(const Job& job, const Key& key, const OpenOperation& operation) {
  std::string text(job.strings.view(operation.name));
  if (text.empty()) text = trace::to_string(operation.operation);
  std::string where;
  if (key.first != kNone && !job.groups[key.first].name.empty())
    where = fmt::format("group {}", job.groups[key.first].name);
  if (key.second != kNoSequence) where += fmt::format("{}number {}", where.empty() ? "" : ", ", key.second);
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

}  // namespace

void find_hang(const FindingContext& context, std::vector<Finding>& findings) {
  const Job& job = context.diagnosis.job;
  const std::map<Key, Hung> hung = hung_operations(job);
  if (hung.empty()) return find_silence(job, findings);
  // The first that got stuck; the others may wait for the same ranks.
  const auto first = std::min_element(
      hung.begin(), hung.end(), [](const auto& a, const auto& b) { return a.second.since < b.second.since; });
  const auto& [key, operation] = *first;
  std::vector<std::int32_t> waiting;
  std::int64_t waited = 0;
  for (const Waiting& one : operation.waiting) {
    const RankTrace& rank = job.ranks[one.rank];
    waiting.push_back(rank.rank);
    const Nanoseconds until = std::max(rank.ending.recorded_until, rank.ending.hang_noted);  // one is known
    waited = std::max(waited, until - one.operation->begin);
  }
  const std::vector<std::int32_t> missing = missing_ranks(job, key, operation);
  Finding finding;
  finding.code = "hang";
  finding.severity = "high";
  const std::string what = describe(job, key, *operation.waiting.front().operation);
  finding.title = missing.empty() ? fmt::format("the job hung in {}: all of its ranks are in it", what)
                                  : fmt::format("the job hung in {}: {} never came", what, named(missing));
  finding.evidence.push_back(fmt::format("{} {} in it, the first for {}", named(waiting),
                                         waiting.size() == 1 ? "waits" : "wait", format_duration(waited)));
  for (std::size_t i = 0; i < std::min(kMostNamed, missing.size()); ++i)
    finding.evidence.push_back(describe_missing(job, missing[i]));
  std::size_t others = 0;
  for (const auto& [other, also] : hung) {
    if (other == key || ++others > kMostOthers) continue;
    std::vector<std::int32_t> ranks;
    for (const Waiting& one : also.waiting) ranks.push_back(job.ranks[one.rank].rank);
    finding.evidence.push_back(fmt::format("{} {} in {}", named(ranks), ranks.size() == 1 ? "waits" : "wait",
                                           describe(job, other, *also.waiting.front().operation)));
  }
  finding.remedy =
      missing.empty()
          ? "look at the network and the driver: every rank has issued it. The stacks of all ranks stand in "
            "hang-rank-N.json of the run, if it was recorded with --hang-timeout"
          : fmt::format(
                "find out what keeps {} from issuing it: a branch that only some ranks take, data that ran "
                "out, "
                "an exception. Its stacks stand in hang-rank-{}.json of the run, if it was recorded with "
                "--hang-timeout",
                named(missing), missing.front());
  findings.push_back(std::move(finding));
}

}  // namespace lockstep::analyzer
