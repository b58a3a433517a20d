// Names the job step that this process was started in, for recorders that a launcher starts one a rank.
#pragma once

#include <functional>
#include <string>

namespace lockstep::tracer::record {

// The same for all processes of one srun or mpirun, and different for the next: "slurm-4711.0", "ompi-…",
// "pmi-…". Empty where the launcher says nothing of the kind. `lookup` is getenv or a stand-in.
std::string launch_name(const std::function<const char*(const char*)>& lookup);
std::string launch_name();

}  // namespace lockstep::tracer::record
