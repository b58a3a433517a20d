#include "analyzer/html/evidence.h"

#include <optional>
#include <utility>

#include "analyzer/diagnose/finding_kinds.h"

namespace lockstep::analyzer {

DrawnEvidence evidence_of(const Finding& finding, const Report& report, const GroupNumbers& groups) {
  static const FindingKind kUnknown{};
  const FindingKind* const known = find_finding_kind(finding.code);
  const FindingKind& kind = known == nullptr ? kUnknown : *known;
  const PictureContext context{finding, kind, report, groups};
  for (const Picture* const picture : {find_picture(kind.picture), find_picture("cause")}) {
    if (picture == nullptr) continue;
    if (std::optional<PictureData> data = picture->data(context)) return {picture, *std::move(data)};
  }
  return {};
}

}  // namespace lockstep::analyzer
