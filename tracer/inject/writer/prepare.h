// Makes a process ready to record: the first thing that every entry of the library does.
#pragma once

namespace lockstep::tracer {

// Reads the environment and the plan, and hands the tracer (core/tracer.h) the parts that it stands under:
// the writer thread, the names that NVTX gave, the gate. False if nothing is to be recorded. May be called
// often, on any thread.
bool prepare() noexcept;

}  // namespace lockstep::tracer
