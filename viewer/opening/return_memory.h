// Gives back to the system what the C library keeps of freed memory: reading a run takes many times what
// showing it does. Takes milliseconds; not for the thread that draws.
#pragma once

namespace lockstep::viewer {

void return_memory();

}  // namespace lockstep::viewer
