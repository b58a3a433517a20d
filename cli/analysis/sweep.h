// Runs of one command on different numbers of ranks, each recorded: what `lockstep scale` measures itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace lockstep::cli {

struct Sweep {
  std::vector<std::int32_t> ranks;  // ascending, at least two
  std::int32_t runs = 3;            // of each
  std::filesystem::path folder;
  std::vector<std::string> command;
  std::optional<std::int32_t> ranks_per_host = {};  // what {hosts} is computed with
  bool quiet = false;
};

struct SweepRun {
  std::int32_t ranks = 0;
  std::filesystem::path folder;
};

// All runs in the order in which they are made: each size once, then each again in the opposite order, so
// that what drifts meanwhile (a warming machine, a filling disk) does not look like scaling.
std::vector<SweepRun> runs_of(const Sweep& sweep);

// The command on so many ranks: {ranks} and {hosts} replaced; without {ranks} the flag of a known launcher
// (torchrun, mpirun, srun, accelerate, deepspeed, lockstep train) is set. The error says that neither is
// there.
Result<std::vector<std::string>> command_on(const std::vector<std::string>& command, std::int32_t ranks,
                                            std::optional<std::int32_t> ranks_per_host);

// Makes the runs that are not there yet: each a run folder of `lockstep record`, whose job's output goes to
// stderr. A run that did not end well is moved aside and made again. The error says which run failed; those
// before it are kept.
Status make_runs(const Sweep& sweep);

}  // namespace lockstep::cli
