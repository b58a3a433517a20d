// What a recorded rank computed on, as its lanes tell.
#pragma once

#include <string>
#include <vector>

#include "analyzer/model/job.h"
#include "trace/event.h"

namespace lockstep::analyzer::run {

// "cuda:1" by its streams; "paced" or "cuda" by the name of the thread that computes, or follows a GPU by its
// events (docs/instrumentation.md); else "cpu".
std::string device_of(const std::vector<trace::Lane>& lanes);

// What kind of work the file calls it; unclassified for a kind that this version does not know.
Class class_of(trace::ActivityClass activity_class);

}  // namespace lockstep::analyzer::run
