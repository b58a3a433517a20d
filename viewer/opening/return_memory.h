// Gives back to the system what the C library keeps of freed memory: reading a run takes many times what
// showing it does. Takes milliseconds, in which other threads that allocate may wait.
#pragma once

namespace lockstep::viewer {

void return_memory();

}  // namespace lockstep::viewer
