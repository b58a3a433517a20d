// The checks, one function a question (or a few that belong together). Each looks through `Situation` and
// nowhere else, and adds what it found.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tracer/doctor/check.h"
#include "tracer/doctor/machine.h"
#include "tracer/doctor/python.h"

namespace lockstep::tracer::doctor {

struct Situation {
  const Machine& machine;
  std::vector<std::string> command = {};    // that would be recorded; may be empty
  std::string folder = ".";                 // where the run would be written
  Result<std::string> injection = Error{};  // path of liblockstep-inject.so, or why there is none
  PythonFacts python = {};
};

using Checks = std::vector<Check>;

void check_installation(const Situation& situation, Checks& checks);
void check_command(const Situation& situation, Checks& checks);
void check_other_tools(const Situation& situation, Checks& checks);
void check_ranks(const Situation& situation, Checks& checks);
void check_driver(const Situation& situation, Checks& checks);
void check_profiling_permission(const Situation& situation, Checks& checks);
void check_nvml(const Situation& situation, Checks& checks);
void check_cupti(const Situation& situation, Checks& checks);
void check_nccl(const Situation& situation, Checks& checks);
void check_python(const Situation& situation, Checks& checks);
void check_torch(const Situation& situation, Checks& checks);
void check_scheduling(const Situation& situation, Checks& checks);
void check_host_counters(const Situation& situation, Checks& checks);
void check_clock(const Situation& situation, Checks& checks);
void check_disk(const Situation& situation, Checks& checks);
void check_limits(const Situation& situation, Checks& checks);
void check_isolation(const Situation& situation, Checks& checks);

}  // namespace lockstep::tracer::doctor
