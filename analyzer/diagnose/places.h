// Where in the trace a finding can be seen.
#pragma once

#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Of a finding with a cause: the operation in which most of that cause's time went by (of those that waited
// for `finding.rank`, if it has one), else the step in which a rank spends most of it. Nothing where the
// report has neither. Waits that a pipeline's schedule makes are nobody's.
std::optional<FindingPlace> place_of(const Finding& finding, const Report& report,
                                     const ScheduledWaits& scheduled);

}  // namespace lockstep::analyzer
