// Programs of this folder: the command that runs one on ranks of one machine, and tests that are skipped
// where there is no torch for it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {

inline const std::vector<std::string> kQuietEnvironment{"OMP_NUM_THREADS=1", "LOCKSTEP_DEBUG=1",
                                                        "PYTHONWARNINGS=ignore"};

// `script`: its name in tests/pytorch. The port is free when this is called.
inline std::vector<std::string> torchrun_of(const std::string& script,
                                            const std::vector<std::string>& arguments, int ranks = 2,
                                            const std::string& python = LOCKSTEP_PYTHON) {
  std::vector<std::string> command{python,
                                   "-m",
                                   "torch.distributed.run",
                                   "--nproc-per-node",
                                   std::to_string(ranks),
                                   "--master-port",
                                   std::to_string(free_port()),
                                   LOCKSTEP_SOURCE_DIR "/tests/pytorch/" + script};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

// The same job without torchrun, where nothing depends on it: torchrun imports torch, which takes longer than
// most of these jobs.
inline std::vector<std::string> ranks_of(const std::string& script, const std::vector<std::string>& arguments,
                                         int ranks = 2, const std::string& python = LOCKSTEP_PYTHON) {
  const std::string folder = LOCKSTEP_SOURCE_DIR "/tests/pytorch/";
  std::vector<std::string> command{python, folder + "start_ranks.py", std::to_string(ranks),
                                   std::to_string(free_port()), folder + script};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

// Without importing it, which takes a second and more.
inline const std::string kHasTorch =
    "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)";

// Why nothing can be tested with this Python's torch, as the test that is skipped says it; empty where it
// can. `program` ends with 0 where that torch will do; `or_none_that`: what else is said where it does not.
inline std::string why_no_torch_of(const std::string& python, const std::string& program = kHasTorch,
                                   const std::string& or_none_that = "") {
  std::string why = why_no_torch_here();
  if (why.empty() && run({python, "-c", program}).exit_code != 0)
    why = python + " has no torch" + or_none_that;
  return why;
}

// The same of what PyTorch runs from 2.11 on, in words.
inline std::string why_no_torch_that_runs(const std::string& what, const std::string& python) {
  return why_no_torch_of(python,
                         "import sys; from importlib.metadata import version; "
                         "sys.exit([int(part) for part in version('torch').split('.')[:2]] < [2, 11])",
                         ", or none that runs " + what);
}

// Of the torch that this build's Python has.
class TorchTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_torch_of(LOCKSTEP_PYTHON); !why.empty())
      GTEST_SKIP() << "SKIPPED: " << why;
  }
};

}  // namespace lockstep::end_to_end
