// Makes a run folder this recorder's own, or its place in one that several recorders of one launch share.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "tracer/recorder/launch.h"
#include "tracer/recorder/manifest.h"

namespace lockstep::tracer::record {

// Writes the manifest under a name that nobody else has, after prepare_run_folder, which only looks: of
// recorders that look at the same time, this decides. manifest.place says which place was got. False: another
// recorder was first, and nothing of ours is left there; an error: the folder can't be written to.
Result<bool> claim(Manifest& manifest, const std::filesystem::path& folder, const Launch& launch);

// At the end of a recorder that has another place than the first: where nobody came for the first, this
// recorder had a folder of its own, on a disk of its node, and its manifest becomes manifest.json.
void take_first_place(Manifest& manifest, const std::filesystem::path& folder);

}  // namespace lockstep::tracer::record
