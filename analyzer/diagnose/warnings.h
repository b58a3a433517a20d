// What a reader must know before trusting the figures.
#pragma once

#include <stop_token>
#include <vector>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/metrics/windows.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Adds to report.warnings, unless the importer has said the same (equal code and rank). Codes: no_steps,
// single_rank, no_communication, no_device_activity, rank_missing, coarse_timestamps, launches_missing,
// unclassified, steps_from_host, matches_impossible, matches_distrusted, records_unmatched, root_unknown.
void add_warnings(const Diagnosis& diagnosis, const std::vector<RankWindows>& windows, Report& report,
                  const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
