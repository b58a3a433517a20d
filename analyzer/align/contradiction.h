// Files that name no hosts are taken to share a clock. Where most of them agree and some rank's times can't
// be of that clock, that rank has one of its own.
#pragma once

#include <stop_token>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Gives such ranks a Clock::domain of their own, unrelated to the others', and warns (clock_contradicted).
// Changes nothing where clocks are known to be shared, where nothing contradicts, where no offset would
// explain it (then a match is wrong), or where there is no majority: of two, nobody knows which is wrong.
void separate_contradicting_ranks(Job& job, const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
