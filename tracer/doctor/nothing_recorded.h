// Why a command may leave no trace, as far as it can be seen without running anything: for `record`, when
// nothing came, and for the doctor before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tracer/doctor/machine.h"

namespace lockstep::tracer::doctor {

struct Obstacle {
  std::string reason;
  std::string remedy;
  bool certain = false;    // nothing can be recorded; else it depends
  bool elsewhere = false;  // the job runs on another machine, or in another file system
};

// Statically linked or set-user-id programs, and words that take the job out of our environment: ssh, docker
// run, sudo, sbatch, kubectl exec, env -i, srun --export=NONE.
std::optional<Obstacle> find_obstacle(const Machine& machine, const std::vector<std::string>& command);

// Why `record` got nothing from the command, and what to try; empty where nothing of it shows a reason.
std::vector<std::string> explain_nothing_recorded(const Machine& machine,
                                                  const std::vector<std::string>& command);
std::vector<std::string> explain_nothing_recorded(
    const std::vector<std::string>& command);  // on this machine

}  // namespace lockstep::tracer::doctor
