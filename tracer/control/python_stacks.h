// The Python stacks of all threads of this process, as faulthandler writes them.
#pragma once

#include <string>

namespace lockstep::tracer::control {

// False, and no file, where the process has no Python, or one whose function for this can't be found. Only
// called where the job has been silent for long (--hang-timeout): the function takes no lock and reads the
// interpreter's structures while its threads may run, as faulthandler's own watchdog thread does.
bool write_python_stacks(const std::string& path) noexcept;

}  // namespace lockstep::tracer::control
