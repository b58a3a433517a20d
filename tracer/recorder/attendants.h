// What goes on beside the command: the progress line, watching for hangs, comparing clocks, watching the run
// folder. Where one of them can't, the others do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tracer/clock_sync/clock_sync.h"
#include "tracer/recorder/hang_watch.h"
#include "tracer/recorder/live_run.h"
#include "tracer/recorder/preparation.h"
#include "tracer/recorder/progress.h"
#include "tracer/recorder/record.h"

namespace lockstep::tracer::record {

class Attendants {
 public:
  // Both have to outlive it.
  Attendants(const Options& options, const Run& run);

  // Of several recorders of one launch, the first of each host.
  bool watches() const;
  // Every half second.
  void look();
  // When the command has ended, and whether it ran for long enough to have met other hosts. False: there is
  // no run folder to write into, or no more.
  bool end(bool long_enough);
  // Names of trace files that were seen while it ran, and have been deleted.
  std::vector<std::string> vanished() const;

 private:
  const Options& options_;
  const Run& run_;
  std::optional<Progress> progress_;
  std::optional<HangWatch> hang_watch_;
  std::optional<clock_sync::ClockSync> sync_;
  std::optional<FolderWatch> watch_;
};

}  // namespace lockstep::tracer::record
