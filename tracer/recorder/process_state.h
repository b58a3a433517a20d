// Whether processes of this host are there.
#pragma once

#include <sys/types.h>

namespace lockstep::tracer::record {

// It is there and more than a zombie, which only waits for somebody to ask for its exit code. Where /proc
// can't be read, a zombie is taken for alive.
bool lives(pid_t process);

}  // namespace lockstep::tracer::record
