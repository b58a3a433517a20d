// Leaves out of stacks what is Lockstep's own: nobody looks there for why a job hangs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracer/recorder/stacks.h"

namespace lockstep::tracer::record {

// Frames in our library, and threads that it runs: those whose frames are all in it or in the C library.
void hide_own_frames(std::vector<ThreadStack>& threads);

// A text of faulthandler's, without the frames of the files that `record` puts on PYTHONPATH.
std::string without_own_frames(std::string_view python_stacks);

}  // namespace lockstep::tracer::record
