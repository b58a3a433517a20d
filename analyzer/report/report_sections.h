// The report's sections. report_sections.def is the list that they are made of: a line for each.
#pragma once

#include <span>

#include "analyzer/report/report_section.h"

namespace lockstep::analyzer {

// In the order of report_sections.def: that of the text and of the web page. That of the JSON document is its
// own, which programs know.
std::span<const ReportSection* const> report_sections();

namespace sections {

#define LOCKSTEP_REPORT_SECTION(name) extern const ReportSection name;
#include "analyzer/report/report_sections.def"

}  // namespace sections

}  // namespace lockstep::analyzer
