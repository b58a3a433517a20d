// What the threads of another process are doing, from outside: the process isn't stopped, and nothing runs in
// it. (docs/decisions.md says why.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::tracer::record {

struct ThreadStack {
  std::int64_t id = 0;
  std::string name;
  std::string state;         // "S (sleeping)"
  std::string wait_channel;  // function of the kernel; empty where it isn't told
  std::string system_call;   // "futex", "call 999", "running"; empty where it isn't told
  // Innermost first: "pthread_cond_wait in libc.so.6". The first is where the thread is; the others are found
  // by looking over its stack for addresses behind calls: one may be left over from an earlier call.
  std::vector<std::string> frames;
};

// Of all threads of a process, the main thread first; at most 256 of them, 32 frames each. Empty where it is
// gone or not ours to look at; frames are missing where memory can't be read (ptrace is forbidden).
std::vector<ThreadStack> read_stacks(std::int64_t process);
// "stopped by a signal (SIGSTOP, Ctrl-Z)", "held by a debugger"; empty where the first of them, the main
// thread, may run.
std::string why_it_stands_still(const std::vector<ThreadStack>& threads);

// The main thread in a few words: "futex, called from wait_for_batch in libloader.so".
std::string summary_of(const std::vector<ThreadStack>& threads);

}  // namespace lockstep::tracer::record
