// The functions of liblockstep-inject.so that the start-up hook (hook/lockstep_pytorch.py) calls through
// ctypes. C, so that one library serves every version of Python and PyTorch. None throws or blocks; all may
// be called from any thread that holds the interpreter's lock.
#pragma once

#include <stdint.h>

extern "C" {
#define LOCKSTEP_EXPORTED __attribute__((visibility("default")))

// Which functions these are: the hook refuses a library of another number.
LOCKSTEP_EXPORTED int32_t lockstep_pytorch_version(void);
// Follow PyTorch in this process from now on. The rank as torch.distributed knows it, -1 where it doesn't:
// what the launcher put into the environment comes first. 0: recording; 1: nothing is to be recorded.
LOCKSTEP_EXPORTED int32_t lockstep_pytorch_start(int32_t rank, int32_t world_size);
// A process group's backend (its C++ object), before its first use; or again (`known` 1), where more has
// become known of what it is for.
LOCKSTEP_EXPORTED void lockstep_pytorch_group(void* backend, const char* backend_name, const char* name,
                                              const char* description, const int32_t* ranks, int32_t count,
                                              int32_t known);
// 1 data, 2 forward, 3 backward, 4 optimizer. `identity`: which optimizer; of a forward or backward pass its
// microbatch, counted from 1 (0: none).
LOCKSTEP_EXPORTED void lockstep_pytorch_begin(int32_t phase, uint64_t identity);
LOCKSTEP_EXPORTED void lockstep_pytorch_end(int32_t phase, uint64_t identity);
LOCKSTEP_EXPORTED void lockstep_pytorch_begin_range(const char* name);
LOCKSTEP_EXPORTED void lockstep_pytorch_end_range(void);
// A range of this thread that is over, in ns of CLOCK_MONOTONIC.
LOCKSTEP_EXPORTED void lockstep_pytorch_past_range(const char* name, int64_t begin, int64_t end);
// One that may be long, told when it begins: if the process is killed in it, the file says so. 1: it is
// recorded; 0: it is not, now. Its end is told either way, with the same begin; one that ended at its begin
// is not kept.
LOCKSTEP_EXPORTED int32_t lockstep_pytorch_begin_long_range(const char* name, int64_t begin);
LOCKSTEP_EXPORTED void lockstep_pytorch_end_long_range(int64_t begin, int64_t end);
// 0 outside of --steps and the like: nobody needs to look.
LOCKSTEP_EXPORTED int32_t lockstep_pytorch_is_recording(void);
// Where the main thread's Python was from one look at its stack to the next, in ns of CLOCK_MONOTONIC; by the
// thread that looks.
LOCKSTEP_EXPORTED void lockstep_pytorch_python_place(const char* name, int64_t begin, int64_t end);
// The Python stack of a thread, as python_stack.h says; `places` are pairs of 64 bits: code object and line.
LOCKSTEP_EXPORTED void* lockstep_pytorch_own_thread_state(void);
LOCKSTEP_EXPORTED int32_t lockstep_pytorch_read_stack(void* thread_state, void* places, int32_t capacity);
LOCKSTEP_EXPORTED void lockstep_pytorch_release_stack(const void* places, int32_t count);
// The threads that run Python now, by the kernel's numbers, in place of those told before.
LOCKSTEP_EXPORTED void lockstep_pytorch_python_threads(const uint32_t* threads, int32_t count);
// A module's call; `begin` returns what its end wants to have.
LOCKSTEP_EXPORTED uint32_t lockstep_pytorch_begin_module(const char* name);
LOCKSTEP_EXPORTED void lockstep_pytorch_end_module(uint32_t token);
// Whether the model computes on the CPU.
LOCKSTEP_EXPORTED void lockstep_pytorch_device(int32_t cpu);
// Stops and resumes following, within one process: for measuring what it costs. What is underway across a
// change is recorded in part.
LOCKSTEP_EXPORTED void lockstep_pytorch_pause(int32_t paused);
// A signal that nobody in this process has a handler for, 0 if there is none; and
// control::offer_python_stacks().
LOCKSTEP_EXPORTED int32_t lockstep_pytorch_unused_signal(void);
LOCKSTEP_EXPORTED void lockstep_pytorch_stacks(int32_t signal, int32_t descriptor);
// Something that the hook could not do, in words.
LOCKSTEP_EXPORTED void lockstep_pytorch_problem(const char* problem);
}
