// What measures are called, and why some are not known, in words: text, JSON, web page, exports and findings
// say the same.
#pragma once

#include <string>

#include "analyzer/report/measures.h"
#include "analyzer/report/pipeline_report.h"
#include "analyzer/report/theory_report.h"

namespace lockstep::analyzer {

// "its schedule is unknown: its microbatches are not numbered"; empty for no reason.
std::string reason_text(const PipelineReason& reason);

// "layer 3"; what the program calls a part that is no layer.
std::string layer_name(const LayerReport& layer);

const char* quantity_name(TheoryQuantity quantity);      // "optimizer state"
const char* unit_of(TheoryQuantity quantity);            // "bytes", "samples"
std::string scope_text(const TheoryReport& row);         // "rank 3", "a step and rank", "a step"
std::string formula_text(const TheoryFormula& formula);  // "2(n−1)/n × 4Ψ"

}  // namespace lockstep::analyzer
