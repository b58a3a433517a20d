// A job that ended with an error: the recorder says so, and the traces say who ended first.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/hung_operations.h"
#include "analyzer/diagnose/job_endings.h"
#include "analyzer/diagnose/shown_by_others.h"
#include "analyzer/diagnose/unanswered.h"
#include "analyzer/model/survivor.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kJobFailedRemedies = std::to_array<Remedy>(
    {{"the program", "what the named rank printed last"},
     {"the machine", "`dmesg` of its node for the OOM killer; the scheduler's limits of memory and time"}});
constexpr Explanation kJobFailedExplained{
    .meaning =
        "The launcher's exit code or signal is not zero. The first rank to end is the one to look at: the "
        "others mostly end because it did.",
    .found =
        "The run's manifest has an exit code other than 0, or a signal. A rank that left out a collective in "
        "which all the others of the group stopped, and went on to a later number of the group, is named "
        "before any other, whoever gave up first. Else a rank is named as the first where its trace ended "
        "before all others could have (a file that was not closed may lack its last 1.5 s), or where it "
        "alone closed its file, which means that it ended by itself, and others waited in a collective that "
        "it never came to.",
    .wrong = "The named rank's own output shows that it was ended by its launcher.",
    .remedies = kJobFailedRemedies,
};
constexpr FindingKind kJobFailed{
    .code = "job_failed",
    .title = "the job ended with an error",
    .severity = SeverityRule::high,
    .alarm = Alarm::failure,
    .accuses = Accused::rank,
    .explanation = &kJobFailedExplained,
};
constexpr auto kJobFailedKinds = std::to_array<const FindingKind*>({&kJobFailed});

constexpr std::size_t kMaxNamed = 8;

// Of several ranks that stopped at about the same time, the only one that ended by itself, where others
// waited in a collective that it never came to: launchers kill the rest. Without that it may as well have
// lost its connection to one that was killed.
std::size_t only_one_to_close(const Job& job) {
  std::size_t closed = kNone;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    if (!job.ranks[i].ending.closed) continue;
    if (closed != kNone) return kNone;
    closed = i;
  }
  if (closed == kNone) return kNone;
  const std::vector<UnansweredCollective> unanswered = find_unanswered(job);
  const bool others_waited =
      std::any_of(unanswered.begin(), unanswered.end(), [&](const UnansweredCollective& collective) {
        return std::binary_search(collective.missing.begin(), collective.missing.end(),
                                  job.ranks[closed].rank);
      });
  return others_waited ? closed : kNone;
}

std::string in_step(const Job& job, const RankTrace& rank, const std::optional<EndedTogether>& shown) {
  if (shown && shown->step) return fmt::format(", not before step {}", *shown->step);
  if (!rank.steps.empty()) return fmt::format(", after step {}", rank.steps.back().number);
  const bool has_steps = std::any_of(job.ranks.begin(), job.ranks.end(),
                                     [](const RankTrace& other) { return !other.steps.empty(); });
  return has_steps ? ", before its first step was over" : "";
}

// The collectives that others came to, and the first rank to end did not.
void describe_unanswered(const Job& job, std::int32_t first, Finding& finding) {
  for (const UnansweredCollective& collective : find_unanswered(job)) {
    if (!std::binary_search(collective.missing.begin(), collective.missing.end(), first)) continue;
    for (const Participant& participant : collective.participants) {
      if (participant.end == kUnknownTime || finding.evidence.size() >= kMaxNamed) continue;  // told already
      finding.evidence.push_back(fmt::format("rank {} waited {} in {} number {}, to which rank {} never came",
                                             job.ranks[participant.rank].rank,
                                             format_duration(time_in(job, participant)),
                                             job.strings.view(participant.name), collective.sequence, first));
    }
  }
}

void describe_others(const Job& job, std::size_t first, Finding& finding) {
  const Nanoseconds ended = last_sign(job.ranks[first]);
  for (std::size_t i = 0; i < job.ranks.size() && finding.evidence.size() < kMaxNamed; ++i) {
    if (i == first) continue;
    const RankTrace& rank = job.ranks[i];
    const Nanoseconds after = std::max<Nanoseconds>(last_sign(rank) - ended, 0);
    const char* const how = rank.ending.closed ? "ended by itself" : "was killed, crashed, or left by _exit";
    if (rank.ending.operations.empty()) {
      finding.evidence.push_back(
          after == 0 ? fmt::format("rank {} {} at about the same time", rank.rank, how)
                     : fmt::format("rank {} {} {} later", rank.rank, how, format_duration(after)));
      continue;
    }
    const OpenOperation& operation = rank.ending.operations.front();
    finding.evidence.push_back(
        fmt::format("rank {} waited in {} for {}, then {}", rank.rank, job.strings.view(operation.name),
                    format_duration(std::max<Nanoseconds>(last_sign(rank) - operation.begin, 0)), how));
  }
}

// One rank left a collective out and went on, and everybody waited for somebody: whoever gave up first is no
// cause.
void describe_skipped(const Job& job, const SkippedCollective& skipped, Finding& finding) {
  const std::int32_t rank = job.ranks[skipped.skipped_by.rank].rank;
  const std::string operation =
      fmt::format("{} number {}", job.strings.view(skipped.participants.front().name), skipped.sequence);
  const std::string instead =
      fmt::format("{} number {}", job.strings.view(skipped.skipped_by.name), skipped.next_sequence);
  const std::string& group = job.groups[skipped.group].name;
  finding.title += fmt::format("; rank {} left out {}", rank, operation);
  for (const Participant& participant : skipped.participants) {
    if (finding.evidence.size() >= kMaxNamed) break;
    finding.evidence.push_back(fmt::format(
        "rank {} waited {} in {} of group {}, to which rank {} never came", job.ranks[participant.rank].rank,
        format_duration(time_in(job, participant)), operation, group, rank));
  }
  finding.evidence.push_back(fmt::format("rank {} went on to {}, to which nobody else came", rank, instead));
  finding.remedy = fmt::format(
      "every rank must issue the same collectives in the same order: see what lets rank {} pass by {} and "
      "come to {} (a branch on the rank or on its data, a batch or an exception skipped)",
      rank, operation, instead);
}

// Who gave up waiting in a hang, or was ended in it, is not why the job failed.
bool ended_by_hang(const Job& job, const std::vector<Finding>& findings) {
  if (!is_said_to_have_hung(findings)) return false;
  const std::size_t first = first_to_end(job);
  if (first == kNone) return true;
  const HungOperations operations = find_hung_operations(job);
  return std::any_of(operations.begin(), operations.end(), [&](const auto& one) {
    return std::any_of(one.second.waiting.begin(), one.second.waiting.end(),
                       [&](const HungRank& waiting) { return waiting.rank == first; });
  });
}

void find_failure(const FindingContext& context, std::vector<Finding>& findings) {
  const Job& job = context.diagnosis.job;
  if (!job.end.signal.has_value() && job.end.exit_code.value_or(0) == 0) return;
  if (ended_by_interruption(job)) return;  // a finding of its own
  Finding finding = kJobFailed.make();
  // Who stands still records nothing any more either: whether it failed nobody can tell.
  const bool interrupted_in_hang = job.end.interrupted_by.has_value() && is_said_to_have_hung(findings);
  finding.title =
      job.end.interrupted_by.has_value()
          ? fmt::format("the job was interrupted by {}{}", signal_in_words(*job.end.interrupted_by),
                        interrupted_in_hang ? "" : ", and had failed before")
      : job.end.signal.has_value() ? fmt::format("the job was ended by signal {}", *job.end.signal)
                                   : fmt::format("the job ended with exit code {}", *job.end.exit_code);
  if (const std::vector<SkippedCollective> skipped = find_skipped(job); !skipped.empty()) {
    describe_skipped(job, skipped.front(), finding);
    findings.push_back(std::move(finding));
    return;
  }
  if (ended_by_hang(job, findings)) {
    finding.remedy = "see above why it hung";
    findings.push_back(std::move(finding));
    return;
  }
  std::size_t first = first_to_end(job);
  if (first == kNone) first = only_one_to_close(job);
  if (job.ranks.size() > 1 && first != kNone) {
    const RankTrace& rank = job.ranks[first];
    const std::optional<EndedTogether> shown = ShownByOthers(job).last_of(first);
    finding.title += interrupted_in_hang
                         ? fmt::format("; rank {} ended or stood still before", rank.rank)
                         : fmt::format("; rank {} ended first{}", rank.rank, in_step(job, rank, shown));
    if (!rank.ending.closed)
      finding.evidence.push_back(fmt::format(
          "rank {} was killed, crashed, {}", rank.rank,
          interrupted_in_hang ? "or stood still from then on (SIGSTOP, a debugger)" : "or left by _exit"));
    if (shown)
      finding.evidence.push_back(fmt::format(
          "its file lacks its last moments: {} number {}, {} after the last that it holds, was ended "
          "with it",
          job.strings.view(shown->name), shown->sequence, format_duration(shown->end - last_sign(rank))));
    describe_unanswered(job, rank.rank, finding);
    describe_others(job, first, finding);
    finding.remedy = fmt::format("look at what rank {} printed last{}", rank.rank,
                                 interrupted_in_hang ? ", and whether its process was still there"
                                                     : "; the others ended because it did");
  } else {
    finding.remedy = "look at what the job printed last; which rank ended first, the traces do not tell";
    if (std::ranges::any_of(job.ranks, [&](const RankTrace& rank) { return lacks_last_moments(job, rank); }))
      finding.remedy +=
          ". Files of processes that were killed, crashed or left by _exit lack up to their last second: "
          "`lockstep record --survive-kill` keeps it";
  }
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::job_failed{kJobFailedKinds, find_failure};

}  // namespace lockstep::analyzer
