// Whether a report without findings may say that nothing costs much: what nobody could see is no good news.
#pragma once

#include <optional>
#include <string>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Two parts of one sentence, of which the first may stand out: "No times were recorded" and ": a flight
// recorder tells …, and which of them had not ended.".
struct NoAllClear {
  std::string what;
  std::string why;
  std::string sentence() const { return what + why; }
};

// Absent: it may. Else the first that holds: no rank was analysed; nothing has a time, and why; flight
// recorders tell of communication alone; of some ranks there are no figures. Its findings are not looked at.
// O(ranks + warnings).
std::optional<NoAllClear> why_no_all_clear(const Report& report);

}  // namespace lockstep::analyzer
