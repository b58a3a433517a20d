// The `lockstep.report/2` document (docs/metrics.md names every field).
#pragma once

#include <iosfwd>
#include <string>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

inline constexpr const char* kReportSchema = "lockstep.report/2";

// Writes the document, one rank, step or collective a line; memory stays that of one line. Absent ratios are
// null, and `warnings` says why. Names that are not UTF-8 are written with U+FFFD for each wrong byte, and a
// warning says how many. Failure is the stream's state.
void write_json(const Report& report, std::ostream& out);

std::string to_json(const Report& report);

}  // namespace lockstep::analyzer
