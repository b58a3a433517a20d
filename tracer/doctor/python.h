// The Python that a job would run with, and what it says of itself: asked with `python -c`, without importing
// torch, which would take seconds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/doctor/machine.h"

namespace lockstep::tracer::doctor {

struct Interpreter {
  std::string path;                // empty: none was found
  std::vector<std::string> flags;  // of the command, that change what is imported at start-up: -I, -E, -S, -s
  bool from_command = false;       // else the first python3 on PATH
};

// `python3 -I train.py`, `torchrun …` (a script whose first line names its interpreter), `srun -n 8 python
// …`: the first word that is a Python or a script of one. Without such a word: python3 on PATH.
Interpreter find_interpreter(const Machine& machine, const std::vector<std::string>& command);

struct PythonFacts {
  std::string problem;  // not empty: it was not found, or did not answer
  Interpreter interpreter;
  std::string version;               // "3.11.2"
  bool isolated = false;             // -I
  bool ignores_environment = false;  // -E, -I
  bool no_site = false;              // -S
  std::string sitecustomize;         // its file; empty: none
  std::string usercustomize;
  std::string torch_folder;        // empty: torch is not installed
  std::string torch_version_file;  // the text of torch/version.py
};

PythonFacts ask_python(const Machine& machine, const std::vector<std::string>& command);
// What the program that ask_python runs has printed.
PythonFacts parse_python_answer(std::string_view text);

struct TorchVersion {
  std::string text;  // "2.11.0+cu130"; empty: not understood
  int major = 0;
  int minor = 0;
  std::string cuda;  // "13.0"; empty: a build without CUDA
  std::string hip;
};
TorchVersion parse_torch_version(std::string_view version_file);

}  // namespace lockstep::tracer::doctor
