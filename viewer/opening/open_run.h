// From paths to a Scene: mapped where the run was prepared before, else imported, analyzed and prepared.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trace/result.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

enum class OpeningStage : std::uint8_t { reading, analyzing, preparing };
const char* to_string(OpeningStage stage);  // "reading"

struct OpenOptions {
  // Keep the prepared form beside the run, and use one that is there. Small runs are not worth a file.
  bool keep = true;
  // Called now and then from the thread that opens; a share of the stage that is done, from 0 to 1.
  std::function<void(OpeningStage stage, double done)> progress;
};

// Runs below this size are prepared in memory each time: it takes a blink.
inline constexpr std::uint64_t kWorthKeeping = 4'000'000;

// Errors: those of the import and the analysis. That the prepared form could not be kept is no error.
Result<std::unique_ptr<Scene>> open_run(const std::vector<std::string>& paths,
                                        const OpenOptions& options = {});

}  // namespace lockstep::viewer
