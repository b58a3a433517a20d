// A job that somebody ended: no failure of its own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/hang_at_work.h"
#include "analyzer/diagnose/hang_places.h"
#include "analyzer/diagnose/hang_words.h"
#include "analyzer/diagnose/job_endings.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kJobInterruptedRemedies =
    std::to_array<Remedy>({{"Lockstep",
                            "where it was ended because nothing moved any more: `lockstep record "
                            "--hang-timeout 30s` writes down where every rank stands"}});
constexpr Explanation kJobInterruptedExplained{
    .meaning =
        "Somebody asked the job to end while it ran: Ctrl-C, or a signal of the scheduler's. What exit code "
        "the launcher made of that says nothing of the job.",
    .found =
        "`lockstep record` was sent SIGINT, SIGTERM, SIGHUP or SIGQUIT, the command did not end well, and no "
        "rank had surely ended 3 s before. It stands in place of `job_failed`, and is a note. Operations "
        "that had been as long as a hang and ended only then never ended: then the job hung, as a finding of "
        "its own says. Not so where no hang was noted and each rank that the others waited for was at work until "
        "then, in no operation itself: on a CPU its training threads ran, or waited for a core, for half of the "
        "time since the others came and of its last 2 s, as far as they were looked at; or it began "
        "computations within 3 s of the interruption, and not in the last of these. Whether such a rank would "
        "have come is said to be open: a loop that never ends looks the same.",
    .wrong = "The job's own output shows an error from before the signal.",
    .remedies = kJobInterruptedRemedies,
};
constexpr FindingKind kJobInterrupted{
    .code = "job_interrupted",
    .title = "the job was interrupted",
    .severity = SeverityRule::note,
    .points_at = PointsAt::place_of_its_own,
    .topic = Topic::interrupted,
    .explanation = &kJobInterruptedExplained,
};
constexpr auto kJobInterruptedKinds = std::to_array<const FindingKind*>({&kJobInterrupted});

constexpr Nanoseconds kSilence = 5'000'000'000;

// The last that ended before the interruption, on any rank; kUnknownTime where nothing did.
Nanoseconds last_progress(const Job& job) {
  Nanoseconds last = kUnknownTime;
  for (const RankTrace& rank : job.ranks) {
    for (const StepMark& step : rank.steps)
      if (step.end <= rank.ending.interrupted) last = std::max(last, step.end);
    for (const Activity& activity : rank.activities)
      if (activity.end <= rank.ending.interrupted) last = std::max(last, activity.end);
  }
  return last;
}

// What ranks were in, where it was too short to be called a hang.
void describe_open(const Job& job, Finding& finding) {
  for (const RankTrace& rank : job.ranks) {
    if (rank.ending.operations.empty() || finding.evidence.size() >= hang::kMaxNamed) continue;
    const OpenOperation& open = rank.ending.operations.front();
    if (rank.ending.interrupted == kUnknownTime || open.begin > rank.ending.interrupted) continue;
    finding.evidence.push_back(fmt::format("rank {} was in {} for {}", rank.rank,
                                           hang::describe(job, {open.group, open.sequence}, open),
                                           format_duration(rank.ending.interrupted - open.begin)));
  }
}

// Others waited as long as in a hang, for ranks that were at work: neither a hang nor none.
void describe_wait_for_work(const FindingContext& context, const hang::InterruptedWait& wait,
                            Finding& finding) {
  const Job& job = context.diagnosis.job;
  std::vector<HungRank> in_it;
  for (const HungRank& one : wait.operation.waiting)
    if (!one.behind) in_it.push_back(one);
  const bool one_works = wait.at_work.size() == 1;
  finding.title += fmt::format(" while {} at work", hang::who_was_at_work(wait));
  const std::vector<hang::RanksInOne> parts = hang::by_operation(job, in_it);
  if (!parts.empty()) {
    const hang::RanksInOne& first = parts.front();
    finding.title += fmt::format(": {} had waited for {}{} for {} in {}", hang::named(first.ranks),
                                 one_works ? "it" : "them", first.ranks.size() == 1 ? "" : ", the first",
                                 format_duration(first.waited), hang::describe(job, wait.key, first));
    for (const hang::RanksInOne& part : parts)
      finding.standings.push_back({part.ranks, true, hang::describe(job, wait.key, part)});
  }
  const ShownByOthers shown(job);
  for (std::size_t i = 0; i < wait.at_work.size(); ++i) {
    const hang::AtWork& work = wait.at_work[i];
    const std::string known = hang::what_is_known_of(job, shown, wait.key, work.rank, hang::Looks::told);
    finding.standings.push_back({{work.rank}, false, known});
    if (i < hang::kMaxNamed)
      finding.evidence.push_back(fmt::format("rank {} {}; {}", work.rank, known, hang::describe_work(work)));
  }
  finding.evidence.push_back(
      fmt::format("whether {} would have come can't be told: a loop that never ends looks the same",
                  one_works ? "it" : "they"));
  finding.place = hang::place_in_time(job, context.report, wait.key, wait.operation);
  const char* const they = one_works ? "it" : "they";
  finding.remedy = fmt::format(
      "if {} would have come, nothing hung: share that work between the ranks, or do it beside the training "
      "loop. If {} would never have come, it hangs: record longer, or with a `--hang-timeout` shorter than this "
      "wait, which writes the stacks of all threads down",
      they, they);
}

void find_interruption(const FindingContext& context, std::vector<Finding>& findings) {
  const Job& job = context.diagnosis.job;
  if (!ended_by_interruption(job)) return;
  Finding finding = kJobInterrupted.make();
  finding.title = fmt::format("the job was interrupted by {}", signal_in_words(*job.end.interrupted_by));
  const Nanoseconds last = last_progress(job);
  const Nanoseconds silent = last == kUnknownTime ? 0 : job.ranks.front().ending.interrupted - last;
  if (const std::optional<hang::InterruptedWait> wait = hang::find_interrupted_wait(job)) {
    describe_wait_for_work(context, *wait, finding);
  } else if (is_said_to_have_hung(findings)) {
    finding.remedy = "see above why it hung";
  } else if (std::all_of(job.ranks.begin(), job.ranks.end(),
                         [](const RankTrace& rank) { return rank.ending.closed; })) {
    finding.evidence.emplace_back("all of its ranks ended by themselves");
    finding.remedy = "nothing: its ranks had done what they had to do, or stopped when they were asked to";
  } else if (silent >= kSilence) {
    finding.evidence.push_back(
        fmt::format("for {} before, no step and no operation had ended", format_duration(silent)));
    describe_open(job, finding);
    finding.remedy =
        "if it hung: `lockstep record --hang-timeout 30s` writes down where every rank stands, and `lockstep "
        "analyze` says who is missing";
  } else {
    finding.evidence.emplace_back("it was at work until then");
    finding.remedy = "nothing: somebody asked it to end";
  }
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::job_interrupted{kJobInterruptedKinds, find_interruption};

}  // namespace lockstep::analyzer
