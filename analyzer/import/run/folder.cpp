#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "analyzer/import/run/run.h"
#include "analyzer/import/run/side_file.h"
#include "base/counts.h"
#include "base/numbers.h"

namespace lockstep::analyzer::run {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".lst";
constexpr const char* kManifest = "manifest.json";
constexpr std::int64_t kGreatestSignal = 64;

// N and M of "rank-N.lst" and "rank-N-restart-M.lst".
struct RankFile {
  std::int32_t rank = 0;
  std::int32_t restart = 0;  // how often torchrun had started the workers anew
  fs::path path;
};
std::optional<RankFile> rank_file(const fs::path& path) {
  constexpr std::string_view kPrefix = "rank-", kRestart = "-restart-";
  const std::string name = path.filename().string();
  std::string_view text = name;
  if (!text.starts_with(kPrefix) || !text.ends_with(kSuffix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  text.remove_suffix(kSuffix.size());
  const std::size_t at = text.find(kRestart);
  const auto rank = parse_number<std::int32_t>(text.substr(0, at), 0);
  const auto restart = at == std::string_view::npos
                           ? std::optional(0)
                           : parse_number<std::int32_t>(text.substr(at + kRestart.size()), 0);
  if (!rank || !restart) return std::nullopt;
  return RankFile{*rank, *restart, path};
}

// The last attempt of a job whose workers were started anew is the job; those before it are told of. Returns
// its number, 0 for a job that was started once.
std::int32_t keep_last_attempt(std::vector<RankFile>& ranks, const fs::path& path, Folder& folder) {
  std::int32_t last = 0;
  for (const RankFile& file : ranks) last = std::max(last, file.restart);
  if (last == 0) return 0;
  std::vector<std::string> earlier;
  for (const RankFile& file : ranks)
    if (file.restart < last) earlier.push_back(file.path.filename().string());
  std::erase_if(ranks, [last](const RankFile& file) { return file.restart < last; });
  std::string message = fmt::format("{}: torchrun started the workers anew {}; this is the last attempt",
                                    path.string(), last == 1 ? "once" : fmt::format("{} times", last));
  if (!earlier.empty())
    message += fmt::format(". Of those before it, {} left out ({}{}): to analyze one, name its files",
                           format_plural(earlier.size(), "file is", "files are"), earlier.front(),
                           earlier.size() > 1 ? ", …" : "");
  folder.warnings.push_back({"job_restarted", std::move(message), kNoRank});
  return last;
}

// That of the run; where each rank has its recorder, those of later attempts wrote their own.
fs::path manifest_of_attempt(const fs::path& run, std::int32_t attempt) {
  fs::path own = run / fmt::format("manifest-rank-0-restart-{}.json", attempt);
  std::error_code error;
  return attempt > 0 && fs::exists(own, error) ? own : run / kManifest;
}

// "signal": {"number": 2, "name": "SIGINT"}
std::optional<std::int32_t> signal_in(const nlohmann::json& object) {
  const auto signal = object.find("signal");
  if (signal == object.end() || !signal->is_object()) return std::nullopt;
  const auto number = signal->find("number");
  if (number == signal->end() || !number->is_number_integer()) return std::nullopt;
  const auto value = number->get<std::int64_t>();
  return value > 0 && value <= kGreatestSignal ? std::optional(static_cast<std::int32_t>(value))
                                               : std::nullopt;
}

// Of several recorders that share a run, the first to be interrupted: a job that loses a node ends on all.
void read_interruption(const nlohmann::json& manifest, JobEnd& end) {
  const auto interrupted = manifest.find("interrupted");
  if (interrupted == manifest.end() || !interrupted->is_object()) return;
  const std::optional<std::int32_t> signal = signal_in(*interrupted);
  const auto time = interrupted->find("time_realtime");
  if (!signal || time == interrupted->end() || !time->is_number_integer()) return;
  const auto at = time->get<std::int64_t>();
  if (at <= 0 || (end.interrupted_by.has_value() && end.interrupted_at <= at)) return;
  end.interrupted_by = signal;
  end.interrupted_at = at;
}

// What is no text in the manifest is left out: a damaged one must not hide the run.
void read_start(const nlohmann::json& manifest, JobStart& start) {
  const auto texts = [&](const char* key, auto take) {
    const auto found = manifest.find(key);
    if (found == manifest.end() || !found->is_structured()) return;
    for (const auto& [name, value] : found->items())
      if (value.is_string()) take(name, value.template get<std::string>());
  };
  texts("command", [&](const std::string&, std::string word) { start.command.push_back(std::move(word)); });
  texts("environment", [&](const std::string& name, std::string value) {
    start.environment.emplace_back(name, std::move(value));
  });
  const auto folder = manifest.find("working_folder");
  if (folder != manifest.end() && folder->is_string()) start.working_folder = folder->get<std::string>();
}

// Processes of which the recorder was told that they leave no file.
void warn_of_unrecorded(const nlohmann::json& manifest, const fs::path& path, Folder& folder) {
  const auto unrecorded = manifest.find("unrecorded");
  if (unrecorded == manifest.end() || !unrecorded->is_array()) return;
  for (const nlohmann::json& of : *unrecorded) {
    if (!of.is_object()) continue;
    const auto reason = of.find("reason"), processes = of.find("processes");
    if (reason == of.end() || !reason->is_string() || processes == of.end() ||
        !processes->is_number_unsigned())
      continue;
    const auto count = processes->get<std::uint64_t>();
    folder.warnings.push_back(
        {"processes_unrecorded",
         fmt::format("{}: {} left no file, and nothing of what {} did is in this report: {}", path.string(),
                     format_plural(count, "process of the job", "processes of the job"),
                     count == 1 ? "it" : "they", reason->get<std::string>()),
         kNoRank});
  }
}

// Ranks whose survivor (record --survive-kill) ended before them, and that did not close their file. Each
// once: recorders that share a run each list all files.
void warn_of_ended_survivors(const nlohmann::json& manifest, std::set<std::string>& told, Folder& folder) {
  const auto text = [](const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto tell = [&](const nlohmann::json& of) {
    if (!of.is_object()) return;
    const auto ended = of.find("survivor_ended"), complete = of.find("complete");
    if (ended == of.end() || !ended->is_object() || complete == of.end() || *complete != false) return;
    const std::string name = text(of, "file");
    const auto file = std::find_if(folder.rank_files.begin(), folder.rank_files.end(),
                                   [&](const fs::path& path) { return path.filename() == name; });
    if (file == folder.rank_files.end() || !told.insert(name).second) return;
    const auto rank = rank_file(*file);
    folder.warnings.push_back(
        {"survivor_ended",
         fmt::format("{}: what --survive-kill put beside the process ended before it, at {}: {}. What "
                     "the process did last may be missing, up to a second",
                     file->string(), text(*ended, "since"), text(*ended, "reason")),
         rank ? rank->rank : kNoRank});
  };
  // A job of one process may have no rank.
  for (const char* key : {"ranks", "processes"}) {
    const auto files = manifest.find(key);
    if (files == manifest.end() || !files->is_array()) continue;
    for (const nlohmann::json& of : *files) tell(of);
  }
}

void read_manifest(const fs::path& path, Folder& folder) {
  const nlohmann::json manifest = parse_side_file(path);
  if (!manifest.is_object()) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    const bool there = fs::exists(status);
    const char* const why = !there                        ? "missing"
                            : fs::is_regular_file(status) ? "no JSON object"
                                                          : "not a regular file";
    folder.warnings.push_back(
        {there ? "manifest_damaged" : "manifest_missing",
         fmt::format("{}: {}; the world size is taken from the ranks' files", path.string(), why), kNoRank});
    return;
  }
  const auto number = [&](const char* key) -> std::optional<std::int32_t> {
    const auto found = manifest.find(key);
    if (found == manifest.end() || !found->is_number_integer()) return std::nullopt;
    const auto value = found->get<std::int64_t>();
    return value >= 0 && value <= INT32_MAX ? std::optional(static_cast<std::int32_t>(value)) : std::nullopt;
  };
  read_start(manifest, folder.start);
  folder.end.exit_code = number("exit_code");
  folder.end.signal = signal_in(manifest);
  const auto world = manifest.find("world_size");
  if (world == manifest.end() || !world->is_number_integer()) return;
  const auto size = world->get<std::int64_t>();
  if (size > 0 && size <= INT32_MAX) folder.world_size = static_cast<std::int32_t>(size);
}

Warning warning_of_change(const fs::path& manifest) {
  return {"manifest_damaged",
          fmt::format("{}: its checksum is not that of its text: it was damaged or changed by hand, and what "
                      "it says of how the job was started and how it ended may be wrong",
                      manifest.string()),
          kNoRank};
}

// Of one of several recorders. It is not the one that says how many ranks there are.
Warning warning_of_no_manifest(const fs::path& manifest) {
  return {"manifest_damaged",
          fmt::format("{}: no JSON object; what this recorder noted of how the job ended, and of processes "
                      "that left no file, is not known",
                      manifest.string()),
          kNoRank};
}

bool is_manifest_of_ours(const fs::path& path) {
  const nlohmann::json manifest = parse_side_file(path);
  if (!manifest.is_object()) return false;
  const auto format = manifest.find("format");
  return format != manifest.end() && format->is_string() &&
         format->get<std::string>().starts_with("lockstep");
}

}  // namespace

void read_doing(const fs::path& trace_file, RankImport& import) {
  const fs::path path = trace_file.parent_path() / fmt::format("hang-{}.json", trace_file.stem().string());
  const nlohmann::json document = parse_side_file(path);
  std::error_code unknown;
  if (!document.is_object()) {
    // What is no regular file is told of where the folder is searched.
    if (fs::is_regular_file(path, unknown))
      import.warn(
          "hang_notes_damaged",
          fmt::format("{}: no JSON object; where the rank stood when the job hung is not known from it",
                      path.string()));
    return;
  }
  const auto doing = document.find("doing");
  if (doing != document.end() && doing->is_string()) import.trace.ending.doing = doing->get<std::string>();
}

bool is_run_folder(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().ends_with(kSuffix)) return true;
  }
  return is_manifest_of_ours(folder / kManifest);
}

bool is_side_file_name(std::string_view name) {
  return name.ends_with(".json") &&
         (name.starts_with("manifest") || name.starts_with("clock-") || name.starts_with("hang-"));
}

Result<Folder> open_folder(const fs::path& path) {
  Folder folder;
  std::vector<RankFile> ranks;
  std::vector<fs::path> clock_files;
  std::vector<fs::path> manifests;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code unknown;
    if (name.starts_with("clock-") && name.ends_with(".json") && at->is_regular_file(unknown))
      clock_files.push_back(at->path());
    if (name.starts_with("manifest") && name.ends_with(".json")) manifests.push_back(at->path());
    if (!name.ends_with(kSuffix)) continue;
    if (auto rank = rank_file(at->path()))
      ranks.push_back(std::move(*rank));
    else
      folder.process_files.push_back(at->path());
  }
  if (error) return Error{fmt::format("{}: {}", path.string(), error.message())};
  const std::int32_t attempt = keep_last_attempt(ranks, path, folder);
  std::sort(ranks.begin(), ranks.end(), [](const RankFile& a, const RankFile& b) { return a.rank < b.rank; });
  std::sort(folder.process_files.begin(), folder.process_files.end());
  for (RankFile& file : ranks) folder.rank_files.push_back(std::move(file.path));
  if (folder.rank_files.empty() && folder.process_files.empty())
    return Error{fmt::format(
        "{}: a run folder without traces: no process of the job did anything that is recorded "
        "(PyTorch from its first process group or step on, CUDA, NVTX), or none has been started yet",
        path.string())};
  // A job of one process needs no launcher, and nobody told it that it is a rank.
  if (folder.rank_files.empty() && folder.process_files.size() == 1)
    folder.rank_files = std::exchange(folder.process_files, {});
  if (folder.rank_files.empty())
    return Error{fmt::format(
        "{}: no process of this run was a rank ({} recorded). To read one by itself: lockstep analyze '{}'",
        path.string(), format_plural(folder.process_files.size(), "process was", "processes were"),
        folder.process_files.front().string())};
  const fs::path of_job = manifest_of_attempt(path, attempt);
  read_manifest(of_job, folder);
  std::set<std::string> told;
  for (const fs::path& of_recorder : manifests) {
    bool changed = false;
    const nlohmann::json manifest = parse_side_file(of_recorder, &changed);
    if (!manifest.is_object()) {
      std::error_code unknown;
      if (of_recorder != of_job && fs::is_regular_file(of_recorder, unknown))
        folder.warnings.push_back(warning_of_no_manifest(of_recorder));
      continue;
    }
    if (changed) folder.warnings.push_back(warning_of_change(of_recorder));
    read_interruption(manifest, folder.end);
    warn_of_unrecorded(manifest, path, folder);
    warn_of_ended_survivors(manifest, told, folder);
  }
  std::sort(clock_files.begin(), clock_files.end());
  for (const fs::path& file : clock_files) {
    Result<ClockLog> log = read_clock_log(file);
    if (log.ok()) {
      folder.clocks.push_back(std::move(log).value());
    } else {
      folder.warnings.push_back({"clock_log_damaged", log.error().message, kNoRank});
    }
  }
  if (!folder.process_files.empty())
    folder.warnings.push_back({"processes_without_rank",
                               fmt::format("{}: {} no rank and left out (the first: {})", path.string(),
                                           format_plural(folder.process_files.size(), "recorded process is",
                                                         "recorded processes are"),
                                           folder.process_files.front().filename().string()),
                               kNoRank});
  return folder;
}

}  // namespace lockstep::analyzer::run
