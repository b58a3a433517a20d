// What the user asks to open, and the result of opening it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "viewer/opening/open_run.h"
#include "viewer/opening/run_watch.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

struct RunRequest {
  std::vector<std::string> paths;                         // one run
  std::string other;                                      // a second one to compare it with; "": none
  bool keep = true;                                       // OpenOptions::keep
  analyzer::Clocks clocks = analyzer::Clocks::automatic;  // OpenOptions::clocks, of both runs
  std::shared_ptr<const analyzer::CommunicationPatterns> communication = nullptr;  // of both too
  int cycle = 0;
  bool all_steps = false;  // OpenOptions::all_steps, of both runs
  bool operator==(const RunRequest&) const = default;
};

// Two folders are two runs to compare; files, and more than two folders, are one run.
RunRequest request_of(std::vector<std::string> paths, bool keep = true);
// What follows the last slash, as it is written: "a" of "runs/a/", "." of "."; "" of nothing but slashes.
std::string last_part_of(const std::string& path);
// What to call it: "run", "before and after", "trace.json and 3 more". Printable.
std::string name_of(const RunRequest& request);
// The folder that it is in, as it was given.
std::string place_of(const RunRequest& request);

struct OpenedRun {
  RunRequest request;
  std::unique_ptr<Scene> scene;
  std::unique_ptr<Scene> other;     // where the request has one
  std::vector<WatchedRun> on_disk;  // as they were before anything of them was read
};

struct OpeningProgress {
  std::size_t run = 0;  // the first or the second
  std::size_t runs = 1;
  OpeningStage stage = OpeningStage::reading;
  double done = 0;          // of the stage, 0 to 1
  std::uint64_t bytes = 0;  // of the run's files
  // The first picture of a run that has not been prepared before; null: there is none.
  std::shared_ptr<const RunPreview> preview = nullptr;
  // Of everything, 0 to 1. How long stages take differs; that it only grows is what counts.
  double share() const;
};

using TellProgress = std::function<void(const OpeningProgress&)>;

// Errors: open_run()'s; of the second run they begin with "--diff: ".
Result<OpenedRun> open_request(const RunRequest& request, const TellProgress& tell = {},
                               const std::stop_token& stop = {});

}  // namespace lockstep::viewer
