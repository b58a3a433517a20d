#include "analyzer/diagnose/finding_kind.h"

#include <algorithm>

namespace lockstep::analyzer {

std::vector<ExplanationPart> parts_of(const Explanation& explanation) {
  std::vector<ExplanationPart> parts{
      {"found", explanation.found}, {"wrong if", explanation.wrong}, {"lost", explanation.lost}};
  std::erase_if(parts, [](const ExplanationPart& part) { return part.text.empty(); });
  return parts;
}

Finding FindingKind::make() const {
  Finding finding;
  finding.code = code;
  finding.title = title;
  if (severity == SeverityRule::high) finding.severity = "high";
  if (severity == SeverityRule::medium) finding.severity = "medium";
  finding.is_note = severity == SeverityRule::note;
  finding.cause = cause;
  finding.accuses = accuses;
  finding.alarm = alarm;
  finding.share = share;
  finding.topic = topic;
  return finding;
}

bool is_of(const Finding& finding, const FindingKind& kind) {
  return finding.code == kind.code;
}

bool any_of_kind(const std::vector<Finding>& findings, const FindingKind& kind) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return is_of(finding, kind); });
}

}  // namespace lockstep::analyzer
