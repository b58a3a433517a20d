#include "tracer/recorder/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>

#include "trace/compact.h"
#include "tracer/clock_sync/clock_sync.h"
#include "tracer/protocol/environment.h"
#include "tracer/recorder/attach.h"
#include "tracer/recorder/live_run.h"
#include "tracer/recorder/process_state.h"
#include "tracer/recorder/read_manifest.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxNumberedRuns = 999999;
constexpr int kMaxLooks = 20;
constexpr std::chrono::milliseconds kBetweenLooks{50};
// Who gets this from the second node of a job wants to know what else to type.
constexpr const char* kSeveralNodes =
    ". Nodes of one job share a folder where srun or mpirun starts their recorders, or torchrun is told of a "
    "rendezvous (--nnodes with --rdzv-endpoint or --master-addr); else record on each into a folder of its "
    "own (-o NAME-$(hostname)) and join them: lockstep collect NAME-* -o NAME";
constexpr const char* kLibraryName = "liblockstep-inject.so";

bool is_manifest_name(std::string_view name) {
  if (name == kManifestName) return true;
  constexpr std::string_view kSuffix = ".json";
  if (!name.ends_with(kSuffix)) return false;
  name.remove_suffix(kSuffix.size());
  const auto consists_of = [&](std::string_view prefix, std::string_view characters) {
    return name.starts_with(prefix) && name.size() > prefix.size() &&
           name.find_first_not_of(characters, prefix.size()) == std::string_view::npos;
  };
  // As host_for_file_name makes them.
  constexpr std::string_view kOfHosts = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (consists_of("manifest-node-", kOfHosts)) return true;
  // manifest-rank-3.json and manifest-rank-3-restart-1.json, as the rank's trace is named.
  constexpr std::string_view kPrefix = "manifest-";
  if (!name.starts_with("manifest-rank-")) return false;
  return is_trace_file_name(std::string(name.substr(kPrefix.size())) + ".lst");
}

// The launch that a manifest belongs to ("" if it has none); nullopt if the file is no manifest of ours.
std::optional<std::string> launch_of_manifest(const fs::path& path) {
  const nlohmann::json manifest = read_manifest(path);
  if (!manifest.is_object()) return std::nullopt;
  const auto format = manifest.find("format");
  if (format == manifest.end() || !format->is_string()) return std::nullopt;
  if (!format->get_ref<const std::string&>().starts_with("lockstep.run/")) return std::nullopt;
  const auto launch = manifest.find("launch");
  return launch != manifest.end() && launch->is_string() ? launch->get<std::string>() : std::string();
}

// A file of the run while it is written, before it takes its place: manifest.json.<process>.part,
// hang-rank-3.json.part. A process that was killed leaves one behind.
bool is_unfinished_file_name(std::string_view name) {
  constexpr std::string_view kSuffix = ".part";
  if (!name.ends_with(kSuffix)) return false;
  name.remove_suffix(kSuffix.size());
  if (is_run_file_name(name)) return true;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return false;
  return name.find_first_not_of("0123456789", dot + 1) == std::string_view::npos &&
         is_run_file_name(name.substr(0, dot));
}

struct Contents {
  std::vector<fs::path> run_files;
  std::vector<fs::path> unfinished;  // not a word about what the folder is
  std::vector<fs::path> foreign;
  bool has_manifest = false;    // one that is ours
  bool one_launch_only = true;  // all manifests of ours are of the launch asked for
  int manifests = 0;            // of ours
};

Result<Contents> look_into(const fs::path& folder, std::string_view launch) {
  Contents contents;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    const fs::file_type type = entry->symlink_status(ignored).type();
    if (type == fs::file_type::not_found) continue;  // renamed or deleted since it was listed
    // Where the processes of a run answer (attach.h): not a word about what the folder is.
    if (name == kControlFolder && type == fs::file_type::directory) continue;
    const bool is_file = type == fs::file_type::regular;
    const std::optional<trace::CopyName> copy = trace::parse_copy_name(name);
    if (is_file && copy.has_value() && is_trace_file_name(copy->file)) {
      // Of a recorder that still makes it, it is that one's to remove.
      if (!lives(copy->process)) contents.unfinished.push_back(entry->path());
      continue;
    }
    if (is_file && is_unfinished_file_name(name)) {
      contents.unfinished.push_back(entry->path());
      continue;
    }
    if (!is_file || !is_run_file_name(name)) {
      contents.foreign.push_back(entry->path());
      continue;
    }
    if (is_manifest_name(name)) {
      const std::optional<std::string> of = launch_of_manifest(entry->path());
      if (of.has_value()) {
        contents.has_manifest = true;
        ++contents.manifests;
        if (*of != launch) contents.one_launch_only = false;
      }
    }
    contents.run_files.push_back(entry->path());
  }
  if (error)
    return Error{fmt::format("cannot look into run folder '{}': {}", folder.string(), error.message())};
  return contents;
}

bool may_share(const Contents& contents, std::string_view launch) {
  return !launch.empty() && contents.has_manifest && contents.one_launch_only;
}

// As look_into; gives other recorders of the same launch, which start at the same time, a while to be seen
// whole: a folder is not read in one instant, and one on a network file system may show a rank's trace before
// the manifest that was there first.
Result<Contents> look_while_others_start(const fs::path& folder, std::string_view launch) {
  for (int look = 1;; ++look) {
    Result<Contents> contents = look_into(folder, launch);
    if (launch.empty() || look == kMaxLooks || !contents.ok() || contents.value().has_manifest ||
        contents.value().run_files.empty())
      return contents;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

// To recorders of a launch: what one of them deletes may be another's.
Error holds_another_run(const fs::path& path) {
  return Error{
      fmt::format("'{}' holds another run, and --force cannot delete it while several recorders start: "
                  "delete the folder before the job, or choose another with -o",
                  path.string())};
}

}  // namespace

bool is_run_file_name(std::string_view name) {
  if (is_manifest_name(name) || is_trace_file_name(name) || clock_sync::is_clock_file_name(name)) return true;
  // hang-rank-3.json: what a rank was doing when the job hung; hang-1-rank-3.json: at an earlier hang.
  constexpr std::string_view kPrefix = "hang-";
  constexpr std::string_view kSuffix = ".json";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits > 0 && digits < name.size() && name[digits] == '-') name.remove_prefix(digits + 1);
  return is_trace_file_name(std::string(name) + ".lst");
}

Result<RunFolder> prepare_run_folder(const fs::path& path, bool force, std::string_view launch) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return Error{fmt::format("--output '{}': {}", path.string(), error.message())};
  // Several recorders of one launch may create the folder at the same time: who comes second finds it.
  const bool created = fs::create_directories(absolute, error);
  if (created) return RunFolder{absolute, true};
  if (!fs::is_directory(absolute)) {
    if (fs::exists(absolute))
      return Error{fmt::format("--output '{}' is a file, not a folder", path.string())};
    return Error{fmt::format("cannot create run folder '{}': {}", path.string(), error.message())};
  }
  Result<Contents> looked = look_while_others_start(absolute, launch);
  if (!looked.ok()) return looked.error();
  const Contents& contents = looked.value();
  if (contents.run_files.empty() && contents.foreign.empty()) return RunFolder{absolute, false};
  if (may_share(contents, launch)) return RunFolder{absolute, false};
  const bool is_run = contents.has_manifest || (contents.foreign.empty() && !contents.run_files.empty());
  if (!is_run) {
    return Error{fmt::format(
        "'{}' is not empty and not a run of Lockstep (it holds '{}'): choose another folder with -o",
        path.string(),
        (contents.foreign.empty() ? contents.run_files : contents.foreign).front().filename().string())};
  }
  if (const std::optional<std::string> who = who_records_into(absolute); who.has_value()) {
    return Error{
        fmt::format("'{}' is being recorded into by {}: choose another folder with -o, or wait for "
                    "the end of that job{}",
                    path.string(), *who, kSeveralNodes)};
  }
  if (!launch.empty()) return holds_another_run(path);
  if (!force) {
    if (const std::optional<std::string> host = other_host_that_records(absolute); host.has_value()) {
      return Error{
          fmt::format("'{}' is being recorded into from host '{}', or was when its recorder was "
                      "killed: choose another folder with -o, or overwrite it with --force{}",
                      path.string(), *host, kSeveralNodes)};
    }
    return Error{
        fmt::format("'{}' holds a run already: choose another folder with -o, or overwrite it with --force",
                    path.string())};
  }
  remove_control_folder(absolute);
  for (const auto* files : {&contents.run_files, &contents.unfinished}) {
    for (const fs::path& file : *files) {
      if (!fs::remove(file, error) && error)
        return Error{fmt::format("--force: cannot delete '{}': {}", file.string(), error.message())};
    }
  }
  return RunFolder{absolute, false};
}

bool is_wrong_choice(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return fs::exists(path, error);
  const fs::directory_iterator looked(path, error);
  return !error;
}

Error why_refused(const fs::path& path, std::string_view launch) {
  if (!launch.empty() && !who_records_into(path).has_value()) return holds_another_run(path);
  const Result<RunFolder> again = prepare_run_folder(path, false, "");
  if (!again.ok()) return again.error();
  return Error{fmt::format("'{}' was another recorder's when this one began: choose another folder with -o",
                           path.string())};
}

bool holds_one_launch(const fs::path& folder, std::string_view launch) {
  const Result<Contents> contents = look_into(folder, launch);
  if (!contents.ok()) return true;  // it can't be read; what can be written there will show
  return contents.value().one_launch_only && (!launch.empty() || contents.value().manifests <= 1);
}

Result<RunFolder> create_numbered_run_folder(const fs::path& parent) {
  std::error_code error;
  const fs::path base = fs::absolute(parent, error);
  if (error) return Error{fmt::format("cannot find the working folder: {}", error.message())};
  for (int number = 1; number <= kMaxNumberedRuns; ++number) {
    const fs::path path = base / fmt::format("lockstep-run-{:03}", number);
    if (fs::create_directory(path, error)) return RunFolder{path, true};
    if (error) return Error{fmt::format("cannot create run folder '{}': {}", path.string(), error.message())};
  }
  return Error{fmt::format("'{}' holds too many runs: name one with -o", base.string())};
}

std::vector<fs::path> trace_files(const fs::path& folder, std::error_code* unlisted) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (is_trace_file_name(entry->path().filename().string())) files.push_back(entry->path());
  }
  if (unlisted != nullptr) *unlisted = error;
  std::sort(files.begin(), files.end());
  return files;
}

Result<fs::path> find_injection_library(const fs::path& executable) {
  const fs::path root = executable.parent_path().parent_path();
  std::error_code error;
  for (const char* folder : {"lib", "lib64"}) {
    const fs::path direct = root / folder / kLibraryName;
    if (fs::is_regular_file(direct, error)) return direct;
    for (fs::directory_iterator entry(root / folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const fs::path nested = entry->path() / kLibraryName;
      std::error_code ignored;
      if (fs::is_regular_file(nested, ignored)) return nested;
    }
  }
  return Error{
      fmt::format("{} is neither in '{}' nor in '{}': this installation is not whole; build the target "
                  "lockstep_inject, or install again",
                  kLibraryName, (root / "lib").string(), (root / "lib64").string())};
}

std::optional<fs::path> find_python_hook(const fs::path& library) {
  const fs::path folder = library.parent_path() / "lockstep" / "python";
  std::error_code error;
  if (!fs::is_regular_file(folder / "sitecustomize.py", error)) return std::nullopt;
  return folder;
}

}  // namespace lockstep::tracer::record
