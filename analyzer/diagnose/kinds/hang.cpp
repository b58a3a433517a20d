// A job that hung: the operation that never ended, who waits in it and who never came.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/hang_arguments.h"
#include "analyzer/diagnose/hang_at_work.h"
#include "analyzer/diagnose/hang_circle.h"
#include "analyzer/diagnose/hang_looks.h"
#include "analyzer/diagnose/hang_places.h"
#include "analyzer/diagnose/hang_sentences.h"
#include "analyzer/diagnose/hang_words.h"
#include "analyzer/diagnose/hung_operations.h"
#include "analyzer/diagnose/stuck_devices.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kHangRemedies = std::to_array<Remedy>(
    {{"the program",
      "look for a branch, a `continue` or an exception handler that only some ranks take; data that ran out "
      "on one rank (`join()` of DDP, `drop_last=True`); evaluation or a checkpoint on rank 0 alone"},
     {"PyTorch",
      "TORCH_FR_BUFFER_SIZE=2000 (older versions: TORCH_NCCL_TRACE_BUFFER_SIZE) and "
      "TORCH_NCCL_DUMP_ON_TIMEOUT=1 write flight recorders, which `lockstep analyze` reads"},
     {"Lockstep",
      "`lockstep record` writes every rank's stacks, Python's and native ones, once nothing has ended for 5 "
      "minutes (`--hang-timeout` sets another time)"}});
constexpr Explanation kHangExplained{
    .meaning =
        "Some ranks are in an operation that never ended, because another rank never came to it, or because "
        "the network or a device stands still. NCCL itself says so only after its timeout, ten minutes by "
        "default, and names whoever noticed, which is rarely whoever is the cause.",
    .found =
        "An operation never ended. Where the hang watch of `lockstep record` noted a silence, or a flight "
        "recorder was dumped, that is one that was open then, or a collective that some rank never came to "
        "and the others left after 5 s or more. Else it was open for 5 s and for ten times the longest that "
        "its rank ended (after its first step, if it ended any there) when the recording ended or somebody "
        "interrupted the job (one that ended no sooner than 1 s before an interruption, as the last of its "
        "rank, was closed by that, and never ended); or, of a job that failed, it took that long, was its "
        "rank's last, and whom it lacked was still there. In a group of which one hung, an open one of the "
        "same number or a later one never ended either. On CPUs, where messages are asked for early, one "
        "counts only while its rank waits for communication. Of sources that tell no ends (Gloo's flight "
        "recorder up to PyTorch 2.10) an operation counts only if a rank that has a trace is missing. Where "
        "a silence was noted and no operation is open, a hang is said of ranks that have ended nothing since "
        "and did not end by themselves. Missing are ranks of the group whose trace shows that they neither "
        "wait in the operation nor ended it; between two ranks the sends of one meet the receives of the "
        "other in order. Of a rank without a trace, or whose file is cut or damaged there and whose own "
        "counters tell nothing, it is said that nobody knows whether it came; of a group of which the input "
        "does not name all ranks (a dump without `pg_config`, a communicator of which not all ranks were "
        "recorded), that it may have others; what other ranks of the group have ended lacks nobody. On a "
        "GPU, a rank that has an earlier operation of the group open, or whose device is known not to have "
        "begun this one, has issued it and does not wait in it. Named are those that others wait for and "
        "that wait for nobody themselves, each with the operation that lacked it first (a collective before "
        "a message); where no rank is missing nobody is named, and the finding is about the operation that "
        "its first rank came to earliest. Ranks that are in different operations of one number are out of "
        "step, and that is told first. No hang is said of a job that somebody interrupted while each rank that "
        "the others waited for was at work (see `job_interrupted`).",
    .wrong =
        "A named rank's trace ends earlier than the others' because it was killed first, or its file is cut: "
        "then it says so beside the finding.",
    .remedies = kHangRemedies,
};
constexpr FindingKind kHang{
    .code = "hang",
    .title = "the job hung, or hung for a while",
    .severity = SeverityRule::high,
    .alarm = Alarm::hang,
    .accuses = Accused::rank,
    .points_at = PointsAt::place_of_its_own,
    .explanation = &kHangExplained,
};
constexpr auto kHangKinds = std::to_array<const FindingKind*>({&kHang});

using namespace hang;  // NOLINT(google-build-using-namespace): its words

constexpr std::size_t kMaxOthers = 3;

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
  // Dumps of a flight recorder in which nothing is open show no hang: they may have been asked for.
  if (silent.empty() || !has_stacks(job)) return;
  Finding finding = kHang.make();
  finding.title = fmt::format("the job hung: {} ended no step and no operation any more, and {} in none",
                              named(silent), silent.size() == 1 ? "is" : "are");
  const ShownByOthers shown(job);
  for (std::size_t i = 0; i < silent.size(); ++i) {
    const std::string known = what_is_known_of(job, shown, {}, silent[i], Looks::told);
    if (i < kMaxNamed) finding.evidence.push_back(fmt::format("rank {} {}", silent[i], known));
    finding.standings.push_back({{silent[i]}, false, known, true, true});
  }
  if (silent.size() == 1) finding.rank = silent.front();
  finding.remedy = fmt::format("look at the stacks in hang-rank-{}.json of the run", silent.front());
  findings.push_back(std::move(finding));
}

// ", until the job was interrupted"; empty where it was not.
const char* until_when(const Job& job) {
  return job.end.interrupted_by.has_value() ? ", until the job was interrupted" : "";
}

// ", the first for 60.0 s", of one rank " for 60.0 s"; empty where nobody knows.
std::string how_long(const RanksInOne& one) {
  if (one.waited <= 0) return {};
  return fmt::format("{} for {}", one.ranks.size() == 1 ? "" : ", the first", format_duration(one.waited));
}

// "it" where all are in the operation that the title names.
std::string in_what(const RanksInOne& one, bool all_in_one) {
  return all_in_one ? "it" : one.what;
}

// Who waits, for how long, and whether they gave up; and who has issued it and is not in it.
void describe_waiting(const Job& job, const OperationKey& key, const HungOperation& hung,
                      const std::set<std::int32_t>& stuck, bool title_names_it, Finding& finding) {
  std::vector<HungRank> waiting, gone, behind, not_begun, still;
  for (const HungRank& one : hung.waiting) {
    const bool stands_still = stuck.contains(job.ranks[one.rank].rank);
    std::vector<HungRank>& ranks = one.gave_up           ? gone
                                   : stands_still        ? still
                                   : !one.behind         ? waiting
                                   : one.operation.begun ? behind
                                                         : not_begun;
    ranks.push_back(one);
  }
  const bool all_in_one = title_names_it && by_operation(job, hung.waiting).size() == 1;
  // `say`: the sentence on ranks that are in the same.
  const auto tell = [&](const std::vector<HungRank>& those, const auto& say) {
    const std::vector<RanksInOne> parts = by_operation(job, those);
    for (std::size_t i = 0; i < std::min(parts.size(), kMaxNamed); ++i)
      finding.evidence.push_back(
          say(named(parts[i].ranks), parts[i].ranks.size() == 1, in_what(parts[i], all_in_one), parts[i]));
    return parts;
  };
  const std::vector<RanksInOne> wait_in = tell(waiting, [&](const std::string& who, bool one,
                                                            const std::string& it, const RanksInOne& part) {
    return fmt::format("{} {} in {}{}{}", who, one ? "waits" : "wait", it, how_long(part), until_when(job));
  });
  for (const RanksInOne& part : wait_in)
    finding.standings.push_back({part.ranks, true, describe(job, key, part)});
  tell(gone, [&](const std::string& who, bool, const std::string& it, const RanksInOne& part) {
    return fmt::format("{} waited in {}{}, and gave up", who, it, how_long(part));
  });
  tell(still, [](const std::string& who, bool one, const std::string& it, const RanksInOne&) {
    return fmt::format("{} {} issued {}, and {} still", who, one ? "has" : "have", it,
                       one ? "its device stands" : "their devices stand");
  });
  tell(behind, [](const std::string& who, bool one, const std::string& it, const RanksInOne&) {
    return fmt::format("{} {} issued {}, and {} in an earlier one of the group", who, one ? "has" : "have",
                       it, one ? "stands" : "stand");
  });
  const std::vector<RanksInOne> issued =
      tell(not_begun, [](const std::string& who, bool one, const std::string& it, const RanksInOne&) {
        return fmt::format("{} {} issued {}, and {} not come to it", who, one ? "has" : "have", it,
                           one ? "its device has" : "their devices have");
      });
  for (const RanksInOne& part : issued)
    finding.standings.push_back(
        {part.ranks, false,
         fmt::format("issued {}; the device has not come to it", describe(job, key, part))});
}

// What else hung: of ranks that wait in the same ones the first, in the order of time.
void describe_others(const Job& job, const HungOperations& hung, const OperationKey& told, Finding& finding) {
  std::set<std::vector<std::int32_t>> seen;
  std::size_t others = 0;
  for (const HungOperations::const_iterator& at : in_order_of_time(hung)) {
    if (at->first == told) continue;
    std::vector<std::int32_t> ranks;
    std::vector<HungRank> waiting;
    for (const HungRank& one : at->second.waiting) {
      if (one.behind || one.gave_up) continue;
      ranks.push_back(job.ranks[one.rank].rank);
      waiting.push_back(one);
    }
    if (ranks.empty()) continue;
    if (!seen.insert(ranks).second || ++others > kMaxOthers) continue;
    finding.evidence.push_back(describe_waits(job, at->first, waiting));
    for (const RanksInOne& one : by_operation(job, waiting))
      finding.standings.push_back({one.ranks, true, describe(job, at->first, one)});
  }
  if (hung.size() > 1 + std::min(others, kMaxOthers))
    finding.evidence.push_back(fmt::format("{} operations in all never ended", hung.size()));
}

Finding describe_hang(const FindingContext& context, const HungOperations& hung,
                      const std::set<std::int32_t>& stuck, const OperationKey& key) {
  const Job& job = context.diagnosis.job;
  const HungOperation& operation = hung.at(key);
  const std::vector<std::int32_t>& missing = operation.missing;
  const std::string disagreement = describe_disagreement(job, key, operation);
  Finding finding = kHang.make();
  const std::vector<CircleMember> circle =
      disagreement.empty() ? circle_from(job, hung, key) : std::vector<CircleMember>();
  finding.title = circle.empty() ? title_of(job, key, operation, disagreement)
                                 : "the job hung: " + describe_circle(job, hung, circle);
  const OtherArguments other = find_other_arguments(job, key, operation);
  const bool is_by_arguments = !other.about.empty() && circle.empty() && missing.empty();
  if (is_by_arguments)
    finding.title = fmt::format("the job hung in {}: its ranks disagree about its {}",
                                describe(job, key, operation.waiting.front().operation), other.about);
  // Who the title says never came.
  if (circle.empty() && disagreement.empty() && missing.size() == 1) finding.rank = missing.front();
  finding.place = place_in_time(job, context.report, key, operation);
  if (!other.about.empty())
    finding.evidence.push_back(fmt::format("they disagree about its {}: {}", other.about, other.what));
  describe_waiting(job, key, operation, stuck, circle.empty(), finding);
  const ShownByOthers shown(job);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const std::string known = what_is_known_of(job, shown, key, missing[i], Looks::told);
    finding.standings.push_back({{missing[i]}, false, known});
    if (i < kMaxNamed) finding.evidence.push_back(fmt::format("rank {} {}", missing[i], known));
  }
  if (missing.empty()) {
    for (std::size_t i = 0; i < std::min(kMaxNamed, operation.waiting.size()); ++i) {
      const RankTrace& rank = job.ranks[operation.waiting[i].rank];
      if (!rank.ending.doing.empty())
        finding.evidence.push_back(fmt::format("rank {}'s {}: {}", rank.rank,
                                               has_stacks(job) ? "stack" : "last call", rank.ending.doing));
      else if (const std::string seen = where_last_seen(job, rank); !seen.empty())
        finding.evidence.push_back(fmt::format("rank {} {}", rank.rank, seen));
    }
  }
  add_unknown_standings(job, operation.unknown, finding);
  if (!operation.unknown.empty() && !missing.empty())
    finding.evidence.push_back(fmt::format("{}: whether {} came cannot be told",
                                           why_unknown(job, operation.unknown),
                                           operation.unknown.size() == 1 ? "it" : "they"));
  if (!operation.members_known && !missing.empty())
    finding.evidence.push_back(fmt::format(
        "which ranks the group has is not told: others, of which there is no {}, may not have come "
        "either",
        file_of(job)));
  describe_others(job, hung, key, finding);
  if (std::any_of(operation.waiting.begin(), operation.waiting.end(),
                  [](const HungRank& one) { return !one.gave_up; }))
    finding.evidence.emplace_back(
        "an operation that never ended has no length: this time is in none of the figures");
  finding.remedy = is_by_arguments         ? remedy_of_other_arguments(job, other.about)
                   : !circle.empty()       ? remedy_of_circle(circle)
                   : !disagreement.empty() ? remedy_of_disagreement(job, hung, key)
                                           : remedy_of(job, operation, stuck);
  return finding;
}

// The operations to tell of: for each rank that holds up others the first that waits for it, and those that
// lack one rank alone, of which nobody knows; where there is none, the first of all.
// Those in which ranks disagree come first: they are why others never ended.
std::vector<OperationKey> worth_telling(const Job& job, const HungOperations& hung,
                                        std::set<std::int32_t> holding_up) {
  std::vector<HungOperations::const_iterator> in_order = in_order_of_time(hung);
  // A collective tells more than a message: it names who came beside who did not. What ended elsewhere hangs
  // on one device, and holds up nobody by itself.
  std::stable_partition(in_order.begin(), in_order.end(),
                        [](const auto& at) { return !at->first.is_message(); });
  std::stable_partition(in_order.begin(), in_order.end(),
                        [](const auto& at) { return !at->second.ended_elsewhere; });
  std::vector<OperationKey> told;
  std::set<std::int32_t> named_unknown;
  std::set<OperationKey> other_arguments;
  for (const auto& [key, operation] : hung)
    if (!find_other_arguments(job, key, operation).about.empty()) other_arguments.insert(key);
  const auto differ_in_arguments = [&](const auto& at) { return other_arguments.contains(at->first); };
  const auto disagree = [&](const auto& at) {
    return !describe_disagreement(job, at->first, at->second).empty() || differ_in_arguments(at);
  };
  std::stable_partition(in_order.begin(), in_order.end(), disagree);
  for (const auto& at : in_order) {
    std::size_t fresh = told.empty() && disagree(at) ? 1 : 0;
    for (const std::int32_t rank : at->second.missing) fresh += holding_up.erase(rank);
    if (fresh == 0 || told.size() >= kMaxNamed) continue;
    told.push_back(at->first);
    // They come to nothing else because of it: who waits for them elsewhere is evidence of the same hang.
    const bool in_arguments = differ_in_arguments(at);
    if (disagree(at))
      for (const HungRank& one : at->second.waiting)
        if (in_arguments || (!one.behind && !one.gave_up)) holding_up.erase(job.ranks[one.rank].rank);
    for (const CircleMember& member : circle_from(job, hung, at->first)) holding_up.erase(member.rank);
    named_unknown.insert(at->second.unknown.begin(), at->second.unknown.end());
  }
  // Nobody with a trace holds up the others: the first that lacks one rank alone says most.
  const auto lacks_one = [](const auto& at) {
    return at->second.missing.empty() && at->second.unknown.size() == 1 && at->second.waiting.size() > 1;
  };
  if (told.empty() && std::none_of(in_order.begin(), in_order.end(), lacks_one))
    return {in_order.front()->first};
  for (const auto& at : in_order) {
    if (!lacks_one(at) || told.size() >= kMaxNamed) continue;
    if (named_unknown.insert(at->second.unknown.front()).second) told.push_back(at->first);
  }
  return told;
}

void find_hang(const FindingContext& context, std::vector<Finding>& findings) {
  const Job& job = context.diagnosis.job;
  const HungOperations hung = find_hung_operations(job);
  if (hung.empty()) return find_silence(job, findings);
  // Whom the others waited for may have come, had nobody interrupted it: job_interrupted says so.
  if (find_interrupted_wait(job)) return;
  std::set<std::int32_t> stuck_ranks;
  for (const StuckDevice& one : find_stuck_devices(job)) stuck_ranks.insert(job.ranks[one.rank].rank);
  std::set<std::int32_t> holding_up = ranks_that_hold_up(job, hung, stuck_ranks);
  if (holding_up.empty()) holding_up = ranks_that_hold_up(job, hung, {});
  const std::size_t first = findings.size();
  for (const OperationKey& key : worth_telling(job, hung, std::move(holding_up)))
    findings.push_back(describe_hang(context, hung, stuck_ranks, key));
  place_all_ranks(job, hung, findings, findings[first]);
}

}  // namespace

const FindingRule rules::hang{kHangKinds, find_hang};

}  // namespace lockstep::analyzer
