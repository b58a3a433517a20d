// The checks, one function a question (or a few that belong together); checks.def is the list of them. Each
// looks through `Situation` and nowhere else, and adds what it found.
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

#define LOCKSTEP_CHECK(what, name) void check_##name(const Situation& situation, Checks& checks);
#include "tracer/doctor/checks.def"

}  // namespace lockstep::tracer::doctor
