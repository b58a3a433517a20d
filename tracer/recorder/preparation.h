// What is done before the command starts: the run folder, its manifest, and the environment that makes
// processes record themselves.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tracer/recorder/child.h"
#include "tracer/recorder/manifest.h"
#include "tracer/recorder/record.h"
#include "tracer/recorder/run_folder.h"
#include "tracer/recorder/unrecorded.h"

namespace lockstep::tracer::record {

struct Run {
  Manifest manifest;
  std::optional<RunFolder> folder;  // none: the command is to run unrecorded, which has been said
  Child::Environment environment;
  std::unique_ptr<NoticeBoard> notices;  // none: nobody listens to processes that can't be recorded
  std::optional<Ending>
      refused;  // how we end instead: something is there already, which the user can put right
};

// May throw where memory runs out: then the command is to run unrecorded.
Run prepare(const Options& options);
// As if it had not been prepared.
void undo(const Run& run);

// As the user will type it: relative where it is below the working folder.
std::string shown_path(const std::filesystem::path& path);
std::int64_t realtime_now();  // ns since 1970

}  // namespace lockstep::tracer::record
