// The list of the report's sections: a line here and one in report_sections.cpp for each.
#pragma once

#include <span>

#include "analyzer/report/report_section.h"

namespace lockstep::analyzer {

// In the order of the text and of the web page. That of the JSON document is its own, which programs know.
std::span<const ReportSection* const> report_sections();

namespace sections {

extern const ReportSection account;
extern const ReportSection verdict;
extern const ReportSection findings;
extern const ReportSection ranks;
extern const ReportSection steps;
extern const ReportSection pipelines;
extern const ReportSection collectives;
extern const ReportSection wait_states;
extern const ReportSection groups;
extern const ReportSection buckets;
extern const ReportSection theory;
extern const ReportSection layers;
extern const ReportSection unknown;

}  // namespace sections

}  // namespace lockstep::analyzer
