// The folder of a run: manifest.json and one trace file a process.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/result.h"

namespace lockstep::tracer::record {

inline constexpr const char* kManifestName = "manifest.json";
inline constexpr const char* kControlFolder = "control";
inline constexpr const char* kManifestFormat = "lockstep.run/1";

struct RunFolder {
  std::filesystem::path path;  // absolute
  bool created = false;        // by us, just now
};

// True for the names that a run's own files have: manifest.json, manifest-rank-<N>.json,
// manifest-rank-<N>-restart-<M>.json, manifest-node-<which>.json, trace files, hang-<name of a trace
// file>.json, and clock-<host>-<process>.json.
bool is_run_file_name(std::string_view name);

// Creates the folder, or finds it empty. One that holds anything is an error, unless `force` is given and it
// is a run (its manifest says so, or nothing but a run's files is in it): then the run's files are deleted,
// and only those. Never while somebody records into it (live_run.h).
//
// `launch` names what several recorders belong to (launch.h; `srun lockstep record …` starts one a rank); not
// empty, a folder is also taken if all manifests in it are of the same launch.
//
// This only looks: the folder is the recorder's once it has a manifest there (claim.h).
Result<RunFolder> prepare_run_folder(const std::filesystem::path& path, bool force, std::string_view launch);

// Whether there is something at `path` that makes it a wrong choice. What can't be looked into, for lack of
// memory, of descriptors or of rights, is none: nobody can tell.
bool is_wrong_choice(const std::filesystem::path& path);

// As prepare_run_folder refuses a folder that somebody has claimed since.
Error why_refused(const std::filesystem::path& path, std::string_view launch);

// True if no manifest in the folder is of another launch than `launch`; of recorders without one ("") there
// may be one alone.
bool holds_one_launch(const std::filesystem::path& folder, std::string_view launch);

// Creates lockstep-run-001, or the next number that is free, in `parent`.
Result<RunFolder> create_numbered_run_folder(const std::filesystem::path& parent);

// Trace files in the folder, sorted by name. `unlisted` becomes why they are not, or not all, known.
std::vector<std::filesystem::path> trace_files(const std::filesystem::path& folder,
                                               std::error_code* unlisted = nullptr);

// liblockstep-inject.so beside the executable: in ../lib, ../lib64, or a folder of ../lib (multiarch). The
// error names the places. `executable` is the path of the running program.
Result<std::filesystem::path> find_injection_library(const std::filesystem::path& executable);

// The folder of the start-up hook for Python, lockstep/python beside the library; nothing where it is
// missing.
std::optional<std::filesystem::path> find_python_hook(const std::filesystem::path& library);

}  // namespace lockstep::tracer::record
