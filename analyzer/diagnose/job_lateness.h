// Who of a job's ranks is late: its steps as a table, and the judgement.
#pragma once

#include <vector>

#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/intervals/interval_set.h"
#include "analyzer/lateness/late_ranks.h"
#include "analyzer/lateness/step_table.h"
#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Of the report's steps, ranks and collectives. The table points into the report's steps. In a pipeline ranks
// wait differently by design; there a rank is late by what the others, in the mean, wait for it off schedule
// (ScheduledWaits), and by no more than what it does itself beyond the other ranks, or beyond those of its
// own stage. Where GPUs run behind their hosts, ranks are late by what that costs (host_pace.h).
StepTable table_of_steps(const Job& job, const Report& report, const ScheduledWaits& scheduled);
// With waits looked for here.
StepTable table_of_steps(const Job& job, const Report& report, const std::vector<IntervalSet>& regions = {});

}  // namespace lockstep::analyzer
