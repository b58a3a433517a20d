// Where a Python program is, in a line.
#pragma once

#include <string>

namespace lockstep::tracer::record {

// Where Python's main thread is, from what faulthandler wrote: the innermost frame of the program itself, and
// the library's function that it is in: "/home/a/train.py", line 12 in main, inside barrier of
// distributed_c10d.py. Empty if there is no frame.
std::string place_in_python(const std::string& stacks);

}  // namespace lockstep::tracer::record
