#include "analyzer/diagnose/findings.h"

#include <algorithm>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/places.h"
#include "analyzer/intervals/time_math.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

const char* severity_of(double lost_share) {
  if (lost_share >= 0.10) return "high";
  if (lost_share >= 0.03) return "medium";
  return lost_share >= 0.02 ? "low" : "note";
}

}  // namespace

std::vector<Finding> find_findings(const Diagnosis& diagnosis, const Report& report,
                                   const std::stop_token& stop) {
  FindingContext context{diagnosis, report};
  context.on_cpu = !report.ranks.empty();
  for (const RankReport& rank : report.ranks) {
    if (rank.measures.known)
      context.all_windows_ns = saturating_add(context.all_windows_ns, rank.measures.window_ns);
    context.on_cpu = context.on_cpu && rank.device == "cpu";
  }
  std::vector<Finding> findings;
  for (const FindingRule* const rule : finding_rules()) {
    throw_if_stopped(stop);
    rule->find(context, findings);
  }
  for (Finding& finding : findings) {
    if (context.all_windows_ns > 0) {
      finding.lost_share = static_cast<double>(finding.lost_ns) / static_cast<double>(context.all_windows_ns);
    }
    if (finding.severity.empty())
      finding.severity = finding.is_note ? "note" : severity_of(finding.lost_share);
    if (const FindingKind* const kind = find_finding_kind(finding.code))
      finding.place = place_of(finding, kind->points_at, report, context.scheduled);
  }
  // Alarms stay in the order of their rules.
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (a.alarm != Alarm::none || b.alarm != Alarm::none)
      return a.alarm != Alarm::none && b.alarm == Alarm::none;
    return a.lost_ns > b.lost_ns;
  });
  return findings;
}

}  // namespace lockstep::analyzer
