// A program of verbs: finds the one that is asked for and hands over; help and version are two of them.
#pragma once

#include <span>
#include <string>

namespace lockstep::cli {

// A verb parses its own arguments (argv[0] is the verb) and returns the exit code.
struct Verb {
  const char* name;
  const char* summary;  // one line for --help
  int (*run)(int argc, char** argv);
};

struct Program {
  const char* name;   // "lockstep"
  const char* about;  // what it is for: the first line of its help
  std::span<const Verb> verbs;
  const char* examples;
};

// Runs argv[1] of the command line. Exit code: the verb's; kUsage where there is no such verb.
int run_program(const Program& program, int argc, char** argv);

}  // namespace lockstep::cli
