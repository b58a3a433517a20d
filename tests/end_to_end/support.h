// What end-to-end tests need: a folder that goes away, and running a program to its end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace lockstep::end_to_end {

using test::TemporaryFolder;

struct Outcome {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;      // 0: exited
  std::string standard_output;
  std::string standard_error;
};

// Runs argv[0] with standard input at /dev/null and `environment` ("NAME=value") added to ours, and waits for
// its end. Of a report that it wrote as JSON, the sums are checked (report_sums.h).
Outcome run(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {});

// For a program that is not instrumented (Python) and loads what is: the sanitizer's runtime, from its start.
// "NAME=value"; empty where this build has no sanitizer.
std::vector<std::string> sanitizer_for_others();

// Why a Python with libtorch can't be looked at in this build; empty where it can.
std::string why_no_torch_here();

// An executable of this build: binary("lockstep").
std::string binary(const std::string& name);

// The lines that are not empty, sorted: ranks print in any order.
std::vector<std::string> sorted_lines(const std::string& text);

// A port on loopback that nobody listens on at the moment.
int free_port();

}  // namespace lockstep::end_to_end
