// `lockstep record`: runs a command with the tracer in it and in everything that it starts, and keeps the
// manifest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tracer/clock_sync/sync_address.h"
#include "tracer/protocol/plan.h"
#include "tracer/recorder/child.h"

namespace lockstep::tracer::record {

struct Options {
  std::filesystem::path run;  // empty: lockstep-run-001, or the next free number
  bool force = false;
  bool quiet = false;                  // only why the command was not run is said, and what was asked for
  bool cpu = false;                    // counters of processes, node and GPUs
  std::uint64_t buffer_bytes = 0;      // of ring buffers a process; 0: 64 MiB
  bool python_hook = true;             // follow PyTorch in Python processes
  bool operators = false;              // PyTorch's modules and operators
  double stacks = 0;                   // looks at the main thread's Python stack a second
  bool all_cuda_calls = false;         // of the CUDA API, not only launches, copies and waits
  std::optional<std::string> sources;  // names separated by commas; none: each source's own default
  // Where the recorders of several hosts compare their clocks, and a word that those of one job share; none:
  // one host, or not wanted.
  std::optional<clock_sync::SyncAddress> sync;
  std::string sync_token;
  bool hang_timeout_is_asked_for = false;  // else it is the default: what is as long may be no hang
  control::Plan plan;                // what of the job is recorded; start_realtime is filled in by record()
  std::vector<std::string> command;  // at least one word
};

// Runs the command and returns how it ended: the caller exits with that code, or by that signal (die_by).
// What goes wrong on our side is said on stderr and leaves the command's own outcome untouched: where nothing
// can be written, or our library is missing, it runs unrecorded. Only what the user can put right at once
// stops us before the command starts, with exit code 2: a run folder that holds something.
// Never throws: where it breaks, the last resort (last_resort.h) runs the command, or waits for it.
Ending record(const Options& options) noexcept;

}  // namespace lockstep::tracer::record
