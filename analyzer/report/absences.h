// Why a value is absent: a reader of the JSON finds null, and must find the reason too.
#pragma once

#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// One warning per kind of absent value, with how often: code "absent_overlap_ratio", … In the report's order.
std::vector<Warning> explain_absences(const Report& report);

}  // namespace lockstep::analyzer
