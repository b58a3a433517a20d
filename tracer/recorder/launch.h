// Names the launch that this recorder belongs to, where several recorders of one job may share a run folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tracer/protocol/environment.h"

namespace lockstep::tracer::record {

using Lookup = std::function<const char*(const char*)>;  // getenv, or a stand-in

// What the recorders of one launch agree on, and what each has for itself.
struct Launch {
  std::string name;  // the same for all of them; empty: this recorder knows of no other
  // This recorder's: "rank-3", "rank-3-restart-1" after torchrun started the workers anew, "node-1"; empty:
  // the first.
  std::string place;
  bool of_node = false;  // around torchrun, on one of several nodes: the ranks are below it
  // Nodes without numbers: whoever comes first is the first, and `place` is for the others.
  bool first_come = false;
};

// The same for all processes of one srun, mpirun or torchrun: "slurm-4711.0", "ompi-…", "pmi-…",
// "torchrun-…". Those of srun and mpirun never come again; where only MASTER_ADDR and MASTER_PORT tell, the
// next job may have the same. torchrun's is the same after it started the workers anew. Empty where the
// launcher says nothing of the kind.
std::string launch_name(const Lookup& lookup);

// Of a recorder of `command` whose launcher gave it `identity`. A recorder around torchrun on several nodes
// (--nnodes) is one of the node; the launch is then what torchrun's flags, or their variables (PET_…), say of
// the rendezvous, unless srun or mpirun started it.
Launch find_launch(const Lookup& lookup, const std::vector<std::string>& command,
                   const JobIdentity& identity);
Launch find_launch(const std::vector<std::string>& command, const JobIdentity& identity);

}  // namespace lockstep::tracer::record
