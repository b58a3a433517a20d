// The part of `lockstep record`'s command line that says what of the job is recorded. Each flag has a
// variable of the environment that is its default (docs/recording.md), read by the same code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "base/result.h"
#include "tracer/recorder/record.h"

namespace lockstep::cli {

struct PlanArguments {
  std::string steps, duration, delay, sources, max_size, ring, ring_factor, hang_timeout, buffer_size, stacks,
      cuda_api;
  bool cpu = false;
  bool operators = false;
  bool survive_kill = false;
};

void describe(CLI::App& app, PlanArguments& arguments);
// After parsing. `lookup` returns a variable's value or nullptr, as getenv does. The error names the flag or
// the variable, its value and what it may be.
Status fill_plan(const PlanArguments& arguments, const CLI::App& app,
                 const std::function<const char*(const char*)>& lookup, tracer::record::Options& options);

}  // namespace lockstep::cli
