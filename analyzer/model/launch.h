// When an activity was launched.
#pragma once

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// The begin of the call that launched it, on the host; where that was not recorded, its own begin.
inline Nanoseconds launch_time(const Activity& activity) {
  return activity.launch_begin == kUnknownTime ? activity.begin : activity.launch_begin;
}

}  // namespace lockstep::analyzer
