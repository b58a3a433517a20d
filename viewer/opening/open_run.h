// From paths to a Scene: mapped where the run was prepared before, else imported, analyzed and prepared.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "analyzer/align/align.h"
#include "analyzer/import/import.h"
#include "base/result.h"
#include "viewer/opening/prepared_file.h"
#include "viewer/opening/preview.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

enum class OpeningStage : std::uint8_t { reading, analyzing, preparing };
const char* to_string(OpeningStage stage);  // "reading"

struct OpenOptions {
  // Keep the prepared form beside the run, and use one that is there. Small runs are not worth a file.
  bool keep = true;
  // Whose clocks the times are taken to be of. A prepared form is only good for these.
  analyzer::Clocks clocks = analyzer::Clocks::automatic;
  // Names that communicate beyond those that are known, and which of several profiles is read, as of
  // analyzer::ImportOptions. A prepared form is only good for these.
  std::shared_ptr<const analyzer::CommunicationPatterns> communication = nullptr;
  int cycle = 0;
  // Findings and summaries over all that was recorded, not over steady training alone. As the clocks.
  bool all_steps = false;
  // Called now and then from threads that open, one at a time; a share of the stage that is done, from 0
  // to 1.
  std::function<void(OpeningStage stage, double done)> progress;
  // Of runs that are worth keeping and have not been prepared: called once, before the run is read, with what
  // its files' indices tell; of files without such, while they are read, each time with more ranks. As
  // `progress`.
  std::function<void(RunPreview preview)> preview;
  // Asked to stop, it ends with an error where that is soon possible: while files are read, between the
  // ranks, steps and operations that are analyzed, and between ranks that are prepared. Nothing unfinished is
  // left behind.
  std::stop_token stop{};
};

// Runs below this size are prepared in memory each time: it takes a blink.
inline constexpr std::uint64_t kWorthKeeping = 4'000'000;

// Errors: those of the import and the analysis; stopped. That the prepared form could not be kept is no
// error. `files`: what look_at(paths) says.
Result<std::unique_ptr<Scene>> open_run(const std::vector<std::string>& paths, const InputFiles& files,
                                        const OpenOptions& options);
Result<std::unique_ptr<Scene>> open_run(const std::vector<std::string>& paths,
                                        const OpenOptions& options = {});

}  // namespace lockstep::viewer
