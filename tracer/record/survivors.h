// Survivors of killed processes (tracer/survivor.h), which may still be writing when the command has ended.
#pragma once

#include <filesystem>

namespace lockstep::tracer::record {

// Returns once no process writes to a trace file of the folder any more, or after some seconds: a process
// that outlives the command may go on for days.
void await_survivors(const std::filesystem::path& folder);

}  // namespace lockstep::tracer::record
