// What each process group did together: one row per kind of operation (docs/metrics.md, "Groups").
#pragma once

#include <stop_token>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// From the report's collectives and steps; the group with most waiting and transfer first. O(records).
std::vector<GroupReport> summarise_groups(const Report& report, const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
