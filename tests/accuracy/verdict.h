// What a finding says of whom, held against what was planted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "tests/accuracy/simulate.h"

namespace lockstep::accuracy {

// Whether a finding says that a rank or a link is at fault: of a healthy job that is false whatever it costs.
bool accuses(const analyzer::Finding& finding);

struct Verdict {
  std::vector<std::string> accusations;  // "code: title", in the report's order
  std::vector<std::string> codes;        // of all findings
  // Of a planted fault. Of a changing one: that waiting is found, and nobody accused.
  bool found = false;
  bool cause_named = false;          // found, and the finding's title says what was planted
  std::int32_t wrongly_accused = 0;  // findings that accuse another rank, or anybody where nobody is to blame
};
Verdict judge(const analyzer::Report& report, Fault fault, std::int32_t slow_rank);

}  // namespace lockstep::accuracy
