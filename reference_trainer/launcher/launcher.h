// Starts the ranks of a job on this machine as processes and stands by until they have ended.
//
// Every rank runs the same command with RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR,
// MASTER_PORT and TORCHELASTIC_USE_AGENT_STORE in its environment: what torchrun would set. Signals that ask
// the launcher to end, and SIGUSR1 and SIGUSR2, go on to the ranks. Where one rank fails, the others get
// SIGTERM, and SIGKILL where
// that does not end them within `grace`. Where the launcher itself is killed, the kernel ends the ranks
// (PR_SET_PDEATHSIG).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace lockstep::trainer {

struct RankCommand {
  std::string executable;
  std::vector<std::string> arguments;  // the first is the program's name
  int ranks = 1;
  std::uint16_t master_port = 0;  // of the rendezvous store, on 127.0.0.1
  std::chrono::milliseconds grace{5000};
};

// How the job ended: 0 where every rank did well; else the exit code of the rank that failed first, or 128
// plus the number of the signal that killed it (or that the launcher was asked to end with). `message` says
// so; empty for 0.
struct JobOutcome {
  int exit_code = 0;
  std::string message;
};

// Blocks the signals that run_ranks waits for. Call it before the process starts its first thread.
void block_launcher_signals();

// Precondition: block_launcher_signals() was called. An error where a process could not be started.
Result<JobOutcome> run_ranks(const RankCommand& command);

}  // namespace lockstep::trainer
