// Records that come in pairs on one thread, a begin and its end: both reach the writer or neither. A lost end
// would leave its range open to the end of the file, and all that came later would seem to lie in it.
#pragma once

#include <cstdint>

#include "tracer/inject/core/source.h"

namespace lockstep::tracer {

inline constexpr std::uint32_t kMaxEndBytes = 16;

// As emit(), and puts room for the end aside. Begins nest: the next end of this thread is the end of the last
// begin, whether that was recorded or not.
bool emit_begin(SourceId source, std::uint8_t type, const void* body, std::uint32_t bytes,
                const void* more = nullptr, std::uint32_t more_bytes = 0) noexcept;
// At most kMaxEndBytes of body. Recorded if its begin was, also where nothing is recorded by now; counts as
// no loss of its own. An end without a begin on this thread, or one more than 64 deep, is recorded if there
// is room.
bool emit_end(SourceId source, std::uint8_t type, const void* body, std::uint32_t bytes) noexcept;
// In a forked child: the ends of what the parent began are of no interest here.
void forget_begins_after_fork() noexcept;

}  // namespace lockstep::tracer
