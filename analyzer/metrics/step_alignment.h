// Whether step n of one rank is step n of the others. Where each rank counts the steps of its own optimizer,
// a job in which they take different numbers of local steps between two operations has steps that do not go
// together: of one number, they are of different times and different work, and nobody is late by them.
#pragma once

#include <optional>

#include "analyzer/match/match.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// The warning `steps_apart`, where in a twentieth of the operations that two ranks or more launched within
// steps two of these are two numbers apart or more. (By one they are where one rank launches behind the end
// of its step what another launches before it.) With the two ranks that are furthest apart. O(records · log
// steps).
std::optional<Warning> find_steps_apart(const Job& job, const Matching& matching);

}  // namespace lockstep::analyzer
