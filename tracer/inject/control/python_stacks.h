// The Python stacks of all threads of this process, as faulthandler writes them.
#pragma once

#include <string>

namespace lockstep::tracer::control {

// A real-time signal that has no handler in this process and is not ignored; 0 if there is none.
int find_unused_signal() noexcept;

// Python's faulthandler was told (faulthandler.register) to write all stacks to `descriptor` when `signal`
// comes: from now on its handler is what write_python_stacks() calls. No signal is ever sent. Works with
// every version of CPython; 0 takes it back, before the interpreter ends.
void offer_python_stacks(int signal, int descriptor) noexcept;

// False, and no file, where the process has no Python, or one that neither offered its stacks nor lets the
// function for them be found (CPython 3.13 and later hide it). Only called where the job has been silent for
// long (--hang-timeout): the functions take no lock and read the interpreter's structures while its threads
// may run, as faulthandler's own watchdog thread does.
bool write_python_stacks(const std::string& path) noexcept;

}  // namespace lockstep::tracer::control
