// What is wrong with the job, in words, with evidence and a remedy.
#pragma once

#include <stop_token>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Few and right: each finding states the figures that would prove it wrong, a threshold in its kind's file
// (kinds/) below which it is not made, and the knob to turn. Alarms first, then the greatest loss. Reads
// report.ranks, steps, collectives, blame, lateness and efficiency; sets report.findings, and in
// report.lateness and report.blame what they say of who is late (accusation.h).
void add_findings(const Diagnosis& diagnosis, Report& report, const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
