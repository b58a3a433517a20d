// The command that runs a program of this folder on ranks of one machine.
#pragma once

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

}  // namespace lockstep::end_to_end
