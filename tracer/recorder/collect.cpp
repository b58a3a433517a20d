#include "tracer/recorder/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "tracer/protocol/environment.h"
#include "tracer/recorder/manifest.h"
#include "tracer/recorder/read_manifest.h"
#include "tracer/recorder/recording.h"
#include "tracer/recorder/run_folder.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;

struct Input {
  fs::path folder;
  Recording recording;
  std::vector<fs::path> files;     // traces, hangs and manifests of single ranks
  std::vector<fs::path> left_out;  // what has such a name and is no file: a named pipe, a link
  Json manifest;                   // no object: there is none
  bool manifest_changed = false;   // it is not as its recorder wrote it
};

bool is_copied(const std::string& name) {
  return is_run_file_name(name) && name != kManifestName;
}

Result<Input> look_into(const fs::path& folder) {
  Input input;
  input.folder = folder;
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return Error{fmt::format("'{}' is no run folder: there is no such folder", folder.string())};
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_copied(entry->path().filename().string())) continue;
    std::error_code ignored;
    const bool is_file = fs::is_regular_file(entry->symlink_status(ignored));
    (is_file ? input.files : input.left_out).push_back(entry->path());
  }
  if (error) return Error{fmt::format("cannot look into '{}': {}", folder.string(), error.message())};
  std::sort(input.files.begin(), input.files.end());
  std::sort(input.left_out.begin(), input.left_out.end());
  const auto is_trace = [](const fs::path& path) { return is_trace_file_name(path.filename().string()); };
  if (std::none_of(input.files.begin(), input.files.end(), is_trace)) {
    const auto none = std::find_if(input.left_out.begin(), input.left_out.end(), is_trace);
    return Error{fmt::format("'{}' holds no trace file: {}", folder.string(),
                             none == input.left_out.end()
                                 ? "it is no run folder, or nothing was recorded there"
                                 : fmt::format("'{}' is no regular file", none->filename().string()))};
  }
  input.recording = read_recording(folder);
  input.manifest = read_manifest(folder / kManifestName, &input.manifest_changed);
  // On a node's own disk, none may be the first recorder's.
  for (const fs::path& path : input.files) {
    if (input.manifest.is_object()) break;
    if (path.filename().string().starts_with("manifest"))
      input.manifest = read_manifest(path, &input.manifest_changed);
  }
  return input;
}

// The same name twice is the same rank, or the same process, twice.
Status check_names(const std::vector<Input>& inputs) {
  std::map<std::string, fs::path> seen;
  for (const Input& input : inputs) {
    for (const fs::path& file : input.files) {
      const auto [where, fresh] = seen.emplace(file.filename().string(), file);
      if (fresh) continue;
      return Error{fmt::format(
          "'{}' and '{}' are of the same {}: they are of two jobs, or one was given twice",
          where->second.string(), file.string(), where->first.starts_with("rank-") ? "rank" : "process")};
    }
  }
  return {};
}

Status check_sizes(const std::vector<Input>& inputs) {
  const Input* first = nullptr;
  for (const Input& input : inputs) {
    if (input.recording.world_size == 0) continue;
    if (first == nullptr) first = &input;
    if (input.recording.world_size != first->recording.world_size)
      return Error{fmt::format("'{}' is of a job of {} ranks and '{}' of one of {}", first->folder.string(),
                               first->recording.world_size, input.folder.string(),
                               input.recording.world_size)};
  }
  return {};
}

std::optional<Interruption> interruption_of(const Json& manifest) {
  const auto found = manifest.is_object() ? manifest.find("interrupted") : manifest.end();
  if (!manifest.is_object() || found == manifest.end()) return std::nullopt;
  const auto signal = found->is_object() ? found->find("signal") : found->end();
  if (!found->is_object() || signal == found->end()) return std::nullopt;
  const Interruption interruption{value_of(*signal, "number", 0),
                                  value_of<std::int64_t>(*found, "time_realtime", 0)};
  return interruption.signal > 0 && interruption.realtime > 0 ? std::optional(interruption) : std::nullopt;
}

// The job ended well if it did so everywhere; it was interrupted when the first of its recorders was.
std::optional<Ending> joined_ending(const std::vector<Input>& inputs) {
  std::optional<Ending> joined;
  std::optional<Interruption> first;
  for (const Input& input : inputs) {
    if (value_of<std::string>(input.manifest, "state", "") != "finished") continue;
    Ending ending;
    ending.exit_code = value_of(input.manifest, "exit_code", 0);
    const auto signal = input.manifest.find("signal");
    if (signal != input.manifest.end()) ending.signal = value_of(*signal, "number", 0);
    const bool well = !joined.has_value() || (joined->exit_code == 0 && joined->signal == 0);
    if (well) joined = ending;
    const std::optional<Interruption> interruption = interruption_of(input.manifest);
    if (interruption.has_value() && (!first.has_value() || interruption->realtime < first->realtime))
      first = interruption;
  }
  if (joined.has_value()) joined->interruption = first;
  return joined;
}

// Examples stay with the runs that they are of: process ids of another host mean nothing.
void join_unrecorded(const Json& manifest, std::vector<Unrecorded>& all) {
  if (!manifest.is_object() || !manifest.contains("unrecorded")) return;
  for (const Json& of : manifest["unrecorded"]) {
    if (!of.is_object()) continue;
    const auto reason = value_of<std::string>(of, "reason", "");
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const Unrecorded& one) { return one.reason == reason; });
    Unrecorded& unrecorded = known != all.end() ? *known : all.emplace_back();
    unrecorded.reason = reason;
    unrecorded.only_seen = value_of<bool>(of, "seen_from_outside", false);
    unrecorded.processes += value_of<std::uint64_t>(of, "processes", 0);
    for (auto& program : value_of(of, "programs", std::vector<std::string>()))
      unrecorded.programs.insert(program);
    for (const auto rank : value_of(of, "ranks", std::vector<std::int32_t>())) unrecorded.ranks.insert(rank);
    for (const auto user : value_of(of, "users", std::vector<std::uint32_t>())) unrecorded.users.insert(user);
  }
}

Manifest joined_manifest(const std::vector<Input>& inputs, Recording recording,
                         std::vector<std::string>& notes) {
  const auto holds_rank_0 = [](const Input& input) {
    return !input.recording.ranks.empty() && input.recording.ranks.front().rank == 0;
  };
  const auto found = std::find_if(inputs.begin(), inputs.end(), holds_rank_0);
  const Json& first = (found != inputs.end() ? *found : inputs.front()).manifest;
  Manifest manifest;
  manifest.command = value_of(first, "command", std::vector<std::string>());
  manifest.working_folder = value_of<std::string>(first, "working_folder", "");
  manifest.environment = value_of<std::map<std::string, std::string>>(first, "environment", {});
  manifest.host = value_of<std::string>(first, "host", "");
  manifest.launch = value_of<std::string>(first, "launch", "");
  manifest.injection = value_of<std::string>(first, "injection", "");
  for (const Input& input : inputs) {
    for (const fs::path& path : input.left_out)
      notes.push_back(fmt::format("'{}' is no regular file, and left out", path.string()));
    if (!input.manifest.is_object()) {
      notes.push_back(
          fmt::format("'{}' has no manifest: what was run there is not known", input.folder.string()));
      continue;
    }
    // The joined one has a checksum of its own, which holds.
    if (input.manifest_changed)
      notes.push_back(fmt::format(
          "the manifest of '{}' was damaged or changed by hand: what it says of how the job was started and "
          "how it ended may be wrong, and so may the joined one",
          input.folder.string()));
    const auto start = value_of<std::int64_t>(input.manifest, "start_realtime", 0);
    if (start != 0 && (manifest.start_realtime == 0 || start < manifest.start_realtime))
      manifest.start_realtime = start;
    manifest.end_realtime =
        std::max(manifest.end_realtime, value_of<std::int64_t>(input.manifest, "end_realtime", 0));
    manifest.collected.push_back({input.folder.string(), value_of<std::string>(input.manifest, "host", ""),
                                  value_of(input.manifest, "command", std::vector<std::string>())});
  }
  for (const Input& input : inputs) join_unrecorded(input.manifest, manifest.unrecorded);
  manifest.ending = joined_ending(inputs);
  manifest.recording = std::move(recording);
  return manifest;
}

void remove_all_of(const std::vector<fs::path>& files, const RunFolder& folder) {
  std::error_code ignored;
  for (const fs::path& file : files) fs::remove(file, ignored);
  if (folder.created) fs::remove(folder.path, ignored);
}

}  // namespace

Result<Collected> collect(const std::vector<fs::path>& paths, const fs::path& output, bool force,
                          bool* refused) {
  bool unused = false;
  bool& output_is_wrong = refused != nullptr ? *refused : unused;
  output_is_wrong = false;
  std::vector<Input> inputs;
  for (const fs::path& path : paths) {
    Result<Input> input = look_into(path);
    if (!input.ok()) return input.error();
    inputs.push_back(std::move(input).value());
  }
  if (const Status names = check_names(inputs); !names.ok()) return names.error();
  if (const Status sizes = check_sizes(inputs); !sizes.ok()) return sizes.error();
  std::error_code error;
  for (const fs::path& path : paths) {
    if (!fs::equivalent(path, output, error)) continue;
    output_is_wrong = true;
    return Error{
        fmt::format("--output '{}' is one of the runs to join: choose another folder", output.string())};
  }
  const bool was_there = fs::exists(output, error);
  const Result<RunFolder> folder = prepare_run_folder(output, force, "");
  output_is_wrong = !folder.ok() && was_there;
  if (!folder.ok()) return folder.error();

  std::vector<fs::path> copied;
  for (const Input& input : inputs) {
    for (const fs::path& file : input.files) {
      const fs::path to = folder.value().path / file.filename();
      copied.push_back(to);
      if (fs::copy_file(file, to, error)) continue;
      remove_all_of(copied, folder.value());
      return Error{fmt::format("cannot copy '{}' to '{}': {}", file.string(), to.string(), error.message())};
    }
  }
  Collected collected;
  collected.run = folder.value().path;
  const Manifest manifest = joined_manifest(inputs, read_recording(folder.value().path), collected.notes);
  if (const Status written = write_manifest(manifest, folder.value().path); !written.ok()) {
    remove_all_of(copied, folder.value());
    return written.error();
  }
  collected.ranks = manifest.recording->ranks.size();
  collected.processes = manifest.recording->processes.size();
  for (const auto& [host, ranks] : manifest.recording->hosts()) collected.hosts.push_back(host);
  collected.missing_ranks = manifest.recording->missing_ranks;
  return collected;
}

}  // namespace lockstep::tracer::record
