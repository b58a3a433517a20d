// Where a process stands in its job: what a launcher (ours, or torchrun) puts into the environment.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace lockstep::trainer {

struct Placement {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;        // among the ranks of its node
  int local_world_size = 1;  // ranks of this one's node
  std::string master_address = "127.0.0.1";
  std::uint16_t master_port = 0;
  // The launcher runs the rendezvous store and every rank is its client; else rank 0 runs it.
  bool launcher_runs_store = false;
  // torchrun restarts a failed job with the same store: keys of different attempts must not meet.
  int restart_count = 0;
};

// Reads RANK, WORLD_SIZE, LOCAL_RANK (without it: as if nodes were filled in order), LOCAL_WORLD_SIZE
// (without it: all ranks), MASTER_ADDR, MASTER_PORT, TORCHELASTIC_USE_AGENT_STORE and
// TORCHELASTIC_RESTART_COUNT through `get` (a null pointer is "not set"). No RANK: not launched by anyone, no
// placement. An error names the variable.
using GetEnvironment = std::function<const char*(const char*)>;
Result<std::optional<Placement>> read_placement(const GetEnvironment& get);

}  // namespace lockstep::trainer
