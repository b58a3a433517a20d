// Findings whose losses are, in part or in whole, of the same time: such losses do not add up.
#pragma once

#include <string>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// "of the same time as finding 1", "partly of the same time as finding 1", by the numbers that reports give
// findings: the first before this one with which it shares time. "" where there is none. `finding` is one of
// `report.findings`.
std::string describe_shared_time(const Report& report, const Finding& finding);

}  // namespace lockstep::analyzer
