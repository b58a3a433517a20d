// A mode of training: how ranks share the work, as far as the command line, the log and the layout of a job
// have to know it. Each mode has a folder of its own, and modes/list.h lists them; what trains in that mode
// is a Strategy (strategy/strategy.h).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "reference_trainer/options/options.h"

namespace CLI {
class App;
}

namespace lockstep::trainer {

// Where a rank stands in the mesh of its job, whose dimensions are the replicas, over which the batch is
// divided, and the stages, over which the layers are.
struct MeshPlace {
  int replica = 0, replicas = 1;
  int stage = 0, stages = 1;
};
// Each rank is a replica.
MeshPlace place_of_replica(const Options& options, int world_size, int rank);

// Flags that belong to one mode, or to several: with another mode they are refused.
struct ModeFlags {
  const char* heading = "";  // of their group in --help
  void (*add)(CLI::App& app, Options& options) = nullptr;
  // After parsing, with whatever mode: what follows from these flags, and from files that they name. May
  // change the mode. Null: nothing.
  Status (*apply)(const CLI::App& app, Options& options) = nullptr;
};

struct Mode {
  const char* name = "";             // as --mode takes it
  const ModeFlags* flags = nullptr;  // null: it has none
  // Parameters, gradients or the optimizer's state are divided over ranks: one rank has nobody to share with.
  bool shards = false;
  // Gradients are reduced in the group of all ranks, which has its name from that, and the log counts these
  // operations. Other modes have groups of their own for them.
  bool reduces_over_all_ranks = false;
  // Its operations on an accelerator can be NCCL's.
  bool can_use_nccl = true;
  MeshPlace (*place)(const Options& options, int world_size, int rank) = place_of_replica;

  // Null, of those that follow: there is nothing to do.
  //
  // What follows from the number of ranks, before check().
  Status (*settle)(Options& options, int world_size) = nullptr;
  // What one flag alone cannot tell: combinations, for a job of `world_size` ranks.
  Status (*check)(const Options& options, int world_size) = nullptr;
  // Adds its flags by name, as --config takes them.
  void (*write_flags)(const Options& options, int world_size, nlohmann::ordered_json& flags) = nullptr;
  // DeepSpeed's configuration, as --deepspeed takes it, "auto" and defaults resolved.
  nlohmann::ordered_json (*deepspeed)(const Options& options) = nullptr;
};

}  // namespace lockstep::trainer
