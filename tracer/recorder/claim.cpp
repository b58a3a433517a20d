#include "tracer/recorder/claim.h"

#include <string>
#include <system_error>

#include "tracer/recorder/live_run.h"
#include "tracer/recorder/run_folder.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

void withdraw(const Manifest& manifest, const fs::path& folder) {
  std::error_code ignored;
  fs::remove(folder / manifest_name(manifest), ignored);
}

}  // namespace

Result<bool> claim(Manifest& manifest, const fs::path& folder, const Launch& launch) {
  manifest.place = launch.first_come ? std::string() : launch.place;
  Result<bool> created = create_manifest(manifest, folder);
  if (!created.ok()) return created;
  if (!created.value()) {
    // Its places have no numbers, so that one that is taken tells of no run before ours: one that has ended
    // does. The nodes of a job wait for each other.
    if (!launch.first_come || !is_running(folder)) return false;
    manifest.place = launch.place;
    created = create_manifest(manifest, folder);
    if (!created.ok() || !created.value()) return created;
  }
  // Recorders of two jobs may both have found it empty, and got different places.
  if (holds_one_launch(folder, manifest.launch)) return true;
  withdraw(manifest, folder);
  return false;
}

void take_first_place(Manifest& manifest, const fs::path& folder) {
  std::error_code error;
  if (manifest.place.empty() || fs::exists(folder / kManifestName, error)) return;
  Manifest first = manifest;
  first.place.clear();
  const Result<bool> created = create_manifest(first, folder);
  if (!created.ok() || !created.value()) return;
  withdraw(manifest, folder);
  manifest.place.clear();
}

}  // namespace lockstep::tracer::record
