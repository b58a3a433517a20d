// The parts of the table of explanations: a file each.
#pragma once

#include <vector>

#include "analyzer/explain/explanations.h"

namespace lockstep::analyzer {

std::vector<Explanation> explain_endings();        // jobs that hung or failed
std::vector<Explanation> explain_waiting();        // ranks that wait for others
std::vector<Explanation> explain_communication();  // transfer that nothing hides
std::vector<Explanation> explain_sharding();  // parameters gathered, groups and messages in the wrong place
std::vector<Explanation> explain_idling();    // devices without work
std::vector<Explanation> explain_doubts();    // what the trace contradicts or leaves open

}  // namespace lockstep::analyzer
