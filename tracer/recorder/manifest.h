// manifest.json of a run: what was run, how it ended, and what was recorded. Written when the run begins
// (state "running") and again when it ends ("finished"), each time whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tracer/protocol/environment.h"
#include "tracer/protocol/plan.h"
#include "tracer/recorder/child.h"
#include "tracer/recorder/recording.h"
#include "tracer/recorder/unrecorded.h"

namespace lockstep::tracer::record {

// One of the runs that `lockstep collect` joined.
struct CollectedFrom {
  std::string folder;
  std::string host;
  std::vector<std::string> command;
};

// What the user asked of `record`, as far as it decides what is recorded.
struct Asked {
  std::optional<std::string> sources;  // as --sources
  bool cpu = false;
  bool python_hook = true;
  control::Plan plan;
};

struct Manifest {
  std::vector<std::string> command;
  std::string working_folder;
  std::map<std::string, std::string> environment;  // telling_environment(): what may make the job faster
  std::string host;
  std::string launch;               // what several recorders that share a run have in common; else empty
  std::string place;                // which of them this is, as Launch::place says
  JobIdentity recorder;             // the recorder's own rank, if the launcher started one a rank
  std::int64_t start_realtime = 0;  // nanoseconds since 1970
  std::int64_t end_realtime = 0;
  std::optional<Ending> ending;  // none while it runs
  std::string injection;         // path of our library
  std::string other_tool;        // an NVTX tool that was set before us, and kept us out
  std::optional<Recording> recording;
  std::vector<Unrecorded> unrecorded;    // processes that left no file, and said so
  std::optional<Asked> asked;            // none of a run that was joined of others
  std::vector<CollectedFrom> collected;  // not empty: the run was joined from these
};

// The document, indented, with a newline at its end; its last member is a checksum of what stands before it.
std::string to_json(const Manifest& manifest);
// Writes the manifest into the run folder: through a temporary file, since readers may look at any moment.
Status write_manifest(const Manifest& manifest, const std::filesystem::path& folder);
// As write_manifest, for a recorder that begins: of several that come at once, one gets the name. False:
// somebody else has it, and nothing was written.
Result<bool> create_manifest(const Manifest& manifest, const std::filesystem::path& folder);
// "manifest.json", or that of another recorder than the first: "manifest-rank-<N>.json",
// "manifest-rank-<N>-restart-<M>.json", "manifest-node-….json".
std::string manifest_name(const Manifest& manifest);
// True for the one recorder of a launch, or of each attempt that torchrun made at it, that tells the user of
// the run.
bool speaks_for_all(const Manifest& manifest);

// "2026-05-17T09:30:12.345Z".
std::string to_utc(std::int64_t nanoseconds_since_1970);

}  // namespace lockstep::tracer::record
