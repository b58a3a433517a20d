// The flags of every verb that reads runs and traces: how input is to be taken.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/import/import.h"
#include "base/result.h"

namespace lockstep::cli {

struct ReadingArguments {
  std::vector<std::string> communication;
  std::string cycle;
  std::optional<std::string> memory, scratch;
};

void describe_reading(CLI::App& app, ReadingArguments& arguments);

// Takes the flags over into the options; a limit on memory holds from then on. The error names the flag and
// its value.
Status take_reading(const ReadingArguments& arguments, analyzer::ImportOptions& options);

}  // namespace lockstep::cli
