// What is wrong with the job, in words, with evidence and a remedy.
#pragma once

#include <stop_token>
#include <vector>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Few and right: each finding states the figures that would prove it wrong, a threshold in its kind's file
// (kinds/) below which it is not made, and the knob to turn. Alarms first, then the greatest loss. Reads
// report.ranks, steps, collectives, blame and efficiency.
std::vector<Finding> find_findings(const Diagnosis& diagnosis, const Report& report,
                                   const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
