// What the kernel counts of a thread of this process. Nothing allocates memory or keeps a descriptor.
#pragma once

#include <cstdint>

#include "tracer/inject/sources/host/proc_text.h"

namespace lockstep::tracer::scheduling {

// ns that the thread ran, up to now; nothing where there is no such thread (any more).
host::Amount read_on_cpu(std::uint32_t thread) noexcept;
// ns that the thread was ready and waited for a core, up to the last time that it got one; nothing where that
// cannot be read, or this kernel does not count it.
host::Amount read_waited(std::uint32_t thread) noexcept;

// What the kernel calls the thread, in `name` (16 bytes, ended with 0); false where that cannot be read.
bool read_name(std::uint32_t thread, char* name) noexcept;
// Whether the thread sleeps now in a system call in which threads wait for messages or for time: what threads
// of a pool never do.
bool waits_for_events(std::uint32_t thread) noexcept;

}  // namespace lockstep::tracer::scheduling
