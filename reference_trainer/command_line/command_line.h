// The command line of `lockstep train`, checked.
//
// Two kinds of mistakes are told apart: a flag or value that cannot be right (exit code 2), reported here
// with the flag's name and value, and everything that goes wrong later (exit code 1).
#pragma once

#include <string>

#include "base/result.h"
#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

// What a command line comes to: options to run with, or text to print and an exit code.
struct CommandLine {
  Options options;
  bool exits = false;
  int exit_code = 0;
  std::string output;  // the help, or the error message; ends with a newline
};

CommandLine parse_command_line(int argc, const char* const* argv);

// What follows from the options for a job of `world_size` ranks.
Status settle_options(Options& options, int world_size);

// What one flag alone cannot tell: combinations, for a job of `world_size` ranks.
Status check_options(const Options& options, int world_size);

}  // namespace lockstep::trainer
