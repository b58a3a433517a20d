// The part of `lockstep record`'s command line that says how the clocks of a job's hosts are compared.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "base/result.h"
#include "tracer/recorder/record.h"

namespace lockstep::cli {

struct SyncArguments {
  std::string address;
  bool off = false;
};

void describe(CLI::App& app, SyncArguments& arguments);
// After parsing, with the command known. The error names the flag or the variable, and its value.
Status fill_sync(const SyncArguments& arguments, const std::function<const char*(const char*)>& lookup,
                 tracer::record::Options& options);

}  // namespace lockstep::cli
