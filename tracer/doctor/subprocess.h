// Work in a process of its own, with an end to it: what hangs is killed, what crashes crashes alone. For
// processes with one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tracer/doctor/machine.h"

namespace lockstep::tracer::doctor {

// Runs argv with standard input at /dev/null. At most 1 MiB of each output is kept.
CommandResult run_command(const std::vector<std::string>& argv, std::uint32_t milliseconds);

// What came of a function that ran in a forked child.
struct ChildAnswer {
  bool finished = false;  // else `problem` says why: "took longer than 5 s", "crashed (SIGSEGV)"
  std::string answer;
  std::string problem;
};
ChildAnswer ask_child(const std::function<std::string()>& work, std::uint32_t milliseconds);

}  // namespace lockstep::tracer::doctor
