// What theory says of memory, traffic and batch, beside what was measured (docs/metrics.md, "Theory").
#pragma once

#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// By what the ranks told of their training (Job, RankTrace::training) and what their counters, passes and
// collectives say; `report` has its ranks, steps, groups, counters and pipelines. Sources of the formulas:
// Rajbhandari et al., "ZeRO", 2020 (state and volume); Patarasu and Yuan, 2009 (rings).
std::vector<TheoryReport> compare_with_theory(const Job& job, const Report& report);

}  // namespace lockstep::analyzer
