// How late a rank is, and what that costs, in a finding's words.
#pragma once

#include <string>

#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// "the others waited 1.62 s for it, and compute hid none of it".
std::string describe_waiting(const Report& report, const BlameReport& blame, const ScheduledWaits& scheduled);

// Of a rank that is late throughout the steps that were judged.
std::string describe_lateness(const LatenessReport& lateness, const RankLateness& late);

// Of a rank that does one thing longer in nearly every step, while its lateness is lost in noise.
std::string describe_time(const LatenessReport& lateness, const RankLateness& late);

}  // namespace lockstep::analyzer
