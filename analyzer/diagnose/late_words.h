// How late a rank is, and what that costs, in a finding's words.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// "the others waited 1.62 s for it, and compute hid none of it".
std::string describe_waiting(const Report& report, const BlameReport& blame, const ScheduledWaits& scheduled);

// What a finding counts as lost: of the others who wait, and of the rank itself. "the 48.1 s lost are …".
std::string describe_loss(std::int64_t lost_ns, std::int64_t of_the_others_ns, std::int64_t own_ns);

// Of a rank that roots of broadcasts wait for, which is no waiting by definition (root_waits.h): of all
// steps.
std::string describe_held_roots(std::int64_t held_ns);

// Of a rank that is late throughout the steps that were judged.
std::string describe_lateness(const LatenessReport& lateness, const RankLateness& late);

// Of a rank that does one thing longer in nearly every step, while its lateness is lost in noise.
std::string describe_time(const LatenessReport& lateness, const RankLateness& late);

}  // namespace lockstep::analyzer
