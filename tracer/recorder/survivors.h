// Survivors of killed processes (tracer/inject/survivor/survivor.h), which may still be writing when the
// command has ended.
#pragma once

#include <filesystem>

namespace lockstep::tracer::record {

// Returns once no survivor of a process that is dead writes to a trace file of the folder, or after some
// seconds: then false. Processes that outlive the command are not waited for: they may go on for days.
bool await_survivors(const std::filesystem::path& folder);

}  // namespace lockstep::tracer::record
