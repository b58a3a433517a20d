// The order that job.h promises.
#pragma once

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Sorts activities by (begin, launch_begin, end), leaves those of which all are equal in their order, and
// puts communications into the order of their activities. Precondition: each activity's communication exists.
void order_activities(RankTrace& trace);

}  // namespace lockstep::analyzer
