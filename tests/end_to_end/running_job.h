// A job under `lockstep record` that waits for the test's word to go on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/end_to_end/background_run.h"
#include "tests/end_to_end/recorded_run.h"

namespace lockstep::end_to_end {

struct RunningJob {
  RecordedRun run;
  TemporaryFolder outputs;
  std::string go = outputs / "go";  // the job goes on when this file is there
  std::unique_ptr<BackgroundRun> job;

  // `lockstep record -o RUN options -- command`, with `environment` ("NAME=value").
  void start(const std::vector<std::string>& options, const std::vector<std::string>& command,
             std::vector<std::string> environment = {});
  // `count` steps of programs/nvtx_steps, as rank 0, waiting in the given one.
  void start_steps(int count, int waiting_in, const std::vector<std::string>& options = {});
  void let_go() const;
  // let_go() and its end.
  Outcome end() const;
  // Whether the job has come to where it waits, and whether the run folder has a file of this name: in time.
  bool waits() const;
  bool has(const std::string& name) const;
  // `lockstep record --attach RUN request`, once rank 0 can be spoken to.
  Outcome attach(const std::string& request) const;
};

}  // namespace lockstep::end_to_end
