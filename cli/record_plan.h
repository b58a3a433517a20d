// The part of `lockstep record`'s command line that says what of the job is recorded.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "trace/result.h"
#include "tracer/record/record.h"

namespace lockstep::cli {

struct PlanArguments {
  std::string steps, duration, delay, sources, max_size, ring, ring_factor, hang_timeout;
};

void describe(CLI::App& app, PlanArguments& arguments);
// After parsing. The error names the flag, its value and what it may be.
Status fill_plan(const PlanArguments& arguments, const CLI::App& app, tracer::record::Options& options);

}  // namespace lockstep::cli
