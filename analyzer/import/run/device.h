// What a recorded rank computed on, as its lanes tell.
#pragma once

#include <string>
#include <vector>

#include "analyzer/import/rank/names.h"
#include "analyzer/model/job.h"
#include "trace/events/event.h"

namespace lockstep::analyzer::run {

// "cuda:1" by its streams; "paced" or "cuda" by the name of the thread that computes, or follows a GPU by its
// events (docs/instrumentation.md); else "cpu".
std::string device_of(const std::vector<trace::Lane>& lanes);

// Whether the lane is a thread of the program that follows a GPU by its events, where the file has what the
// GPU did itself: what such a thread shows is the same once more, and late. docs/instrumentation.md has their
// names.
bool is_told_twice(const trace::Lane& lane, const std::vector<trace::Lane>& lanes);

// What kind of work the file calls it; unclassified for a kind that this version does not know.
Class class_of(trace::ActivityClass activity_class);
// By its name: recorders know fewer libraries than later analyzers.
Class class_of(const KernelName& kernel);

}  // namespace lockstep::analyzer::run
