// Where in the trace a finding can be seen.
#pragma once

#include <optional>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kind.h"
#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

// Where a finding of a kind that points there is seen best. The worst operation is the one in which most of
// the finding's cause's time went by (of those that waited for `finding.rank`, if it has one; of transfer
// without what roots stand in broadcasts, root_waits.h); the worst step that in which a rank spends most of
// it, which stands for an operation too where there is none. Without steps it is the longest stretch of the
// cause, of `finding.rank` or of the rank that spends most so. Nothing where the report has none of these.
// Waits that a pipeline's schedule makes are nobody's. One that its rule gave stays.
std::optional<FindingPlace> place_of(const Finding& finding, PointsAt points_at,
                                     const FindingContext& context);

// Of a finding about these steps alone: the worst operation of them. Nothing where there is none.
std::optional<FindingPlace> worst_operation_of(const Finding& finding, const FindingContext& context,
                                               const StepTable& steps);

}  // namespace lockstep::analyzer
