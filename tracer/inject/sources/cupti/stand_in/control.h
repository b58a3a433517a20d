// A CUPTI and a CUDA driver that need no GPU: libraries of the real names that export the real functions with
// the real prototypes, and records in the real layout of the version that they pretend to be. What a GPU
// would have done, a test program says through the functions below, which the stand-in libcupti exports too.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
// Records what the CUDA library would at this point, on the calling thread: `record` is a struct of
// cupti_activity.h, as of CUDA 13, of its kind. 1: it was recorded; 0: its kind, or the call, is not enabled;
// -1: there was no buffer for it, and it was counted as dropped.
int stand_in_record(const void* record);
// The same for a kernel that runs on until stand_in_finish(): its buffer is not complete before.
int stand_in_begin(const void* record);
void stand_in_finish(std::uint32_t correlation, std::uint64_t start, std::uint64_t end);
// The time by the callback that is registered.
std::uint64_t stand_in_now();
std::uint32_t stand_in_next_correlation();
// Buffers that are complete are kept back; then passed on, the last first if `reversed`.
void stand_in_hold();
void stand_in_release(int reversed);
// From now on cuptiActivityFlushAll() never returns: the driver is gone.
void stand_in_hang();
// How often it was called; and whose callbacks are in place.
std::uint64_t stand_in_flushes();
const void* stand_in_callbacks();
// How many calls in the forked child reached CUPTI.
std::uint64_t stand_in_calls_in_other_processes();
}
