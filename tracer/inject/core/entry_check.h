// Whether the process that our library has come into may be recorded at all. The environment reaches every
// program that the job starts, and some can't bear a library that works beside them.
#pragma once

namespace lockstep::tracer {

// Nothing (nullptr) where recording is safe, or why this process is left alone, in words. Takes no memory and
// starts nothing; asked before anything else.
//
// - Statically linked: NVTX loads us by a libc of the program's own, which brings a second one along for us;
//   that one was never started, and a thread of it crashes.
// - Built with ThreadSanitizer, MemorySanitizer or DataFlowSanitizer: our writes, which they don't see, would
//   be reported as the program's faults. (AddressSanitizer and UBSan bear us; a library that is built with
//   the same sanitizer as the program does, too.) Known by functions of their runtimes.
//
// Another C library than glibc is not asked for: its loader does not find all symbols that we need.
const char* why_left_alone() noexcept;

}  // namespace lockstep::tracer
