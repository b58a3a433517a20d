// Where in the trace a finding can be seen.
#pragma once

#include "analyzer/diagnose/finding_kind.h"
#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Where a finding of a kind that points there is seen best. The worst operation is the one in which most of
// the finding's cause's time went by (of those that waited for `finding.rank`, if it has one); the worst step
// that in which a rank spends most of it, which stands for an operation too where there is none. Nothing
// where the report has neither. Waits that a pipeline's schedule makes are nobody's.
std::optional<FindingPlace> place_of(const Finding& finding, PointsAt points_at, const Report& report,
                                     const ScheduledWaits& scheduled);

}  // namespace lockstep::analyzer
