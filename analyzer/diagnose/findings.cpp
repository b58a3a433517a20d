#include "analyzer/diagnose/findings.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/diagnose/accusation.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/finding_order.h"
#include "analyzer/diagnose/places.h"
#include "analyzer/model/stopped.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

const char* severity_of(double lost_share) {
  if (lost_share >= 0.10) return "high";
  if (lost_share >= 0.03) return "medium";
  return lost_share >= 0.02 ? "low" : "note";
}

// Of which the loss of a kind's findings is a share.
std::int64_t whole_of(Share share, const FindingContext& context) {
  switch (share) {
    case Share::of_training:
      return context.report.account.training_ns();
    case Share::of_run:
      return context.report.account.recorded_ns();
    case Share::of_steady:
      break;
  }
  return context.all_windows_ns;
}

// Operations are summed over all of their ranks, and shares are of the windows of those that have one: where
// only some of the ranks have steps, a loss is no more than what there is of its cause in these windows.
void keep_within_windows(const FindingContext& context, const FindingKind& kind, Finding& finding) {
  if (kind.share != Share::of_steady || context.all_windows_ns <= 0 || all_have_windows(context.report))
    return;
  const std::int64_t most =
      kind.cause == Cause::transfer ? context.total(Cause::transfer) : context.all_windows_ns;
  if (finding.lost_ns <= most) return;
  finding.lost_ns = most;
  finding.evidence.emplace_back(kOnlyKnownSteps);
}

// How a job ended, dumps that tell of communication alone say too; what costs time they do not.
bool applies(const FindingRule& rule, const Report& report) {
  return !tells_communication_alone(report) ||
         std::any_of(rule.kinds.begin(), rule.kinds.end(),
                     [](const FindingKind* kind) { return kind->alarm != Alarm::none; });
}

}  // namespace

void add_findings(const Diagnosis& diagnosis, Report& report, const std::stop_token& stop) {
  FindingContext context{diagnosis, report};
  context.on_cpu = !report.ranks.empty();
  for (const RankReport& rank : report.ranks) {
    if (rank.measures.known)
      context.all_windows_ns = saturating_add(context.all_windows_ns, rank.measures.window_ns);
    context.on_cpu = context.on_cpu && rank.device == "cpu";
  }
  for (RankReport& rank : report.ranks)
    rank.root_wait_ns =
        rank.measures.known ? rank.measures.partition[Cause::transfer] - context.moving_ns(rank) : 0;
  std::vector<Finding> findings;
  for (const FindingRule* const rule : finding_rules()) {
    throw_if_stopped(stop);
    if (applies(*rule, report)) rule->find(context, findings);
  }
  for (Finding& finding : findings) {
    const FindingKind* const kind = find_finding_kind(finding.code);
    if (kind != nullptr) keep_within_windows(context, *kind, finding);
    const std::int64_t whole = whole_of(kind == nullptr ? Share::of_steady : kind->share, context);
    if (whole > 0) finding.lost_share = static_cast<double>(finding.lost_ns) / static_cast<double>(whole);
    if (finding.severity.empty())
      finding.severity = finding.is_note ? "note" : severity_of(finding.lost_share);
    if (kind != nullptr) finding.place = place_of(finding, kind->points_at, context);
  }
  order_findings(findings, {.has_goodput = report.account.goodput.has_value(),
                            .is_moved_by_the_cores = context.on_cpu && context.is_on_one_host()});
  settle_lateness(context, findings, report);
  report.findings = std::move(findings);
}

}  // namespace lockstep::analyzer
