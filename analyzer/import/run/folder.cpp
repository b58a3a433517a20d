#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "analyzer/import/run/run.h"

namespace lockstep::analyzer::run {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".lst";
constexpr const char* kManifest = "manifest.json";

// N of "rank-N.lst".
std::optional<std::int32_t> rank_of(const std::string& name) {
  constexpr std::string_view kPrefix = "rank-";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const char* const begin = name.data() + kPrefix.size();
  const char* const end = name.data() + name.size() - kSuffix.size();
  std::int32_t rank = 0;
  const auto parsed = std::from_chars(begin, end, rank);
  if (parsed.ec != std::errc() || parsed.ptr != end || rank < 0) return std::nullopt;
  return rank;
}

// The manifest's JSON; discarded where there is none.
nlohmann::json parse_manifest(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return file ? nlohmann::json::parse(file, nullptr, false)
              : nlohmann::json(nlohmann::json::value_t::discarded);
}

void read_manifest(const fs::path& path, Folder& folder) {
  const nlohmann::json manifest = parse_manifest(path);
  if (!manifest.is_object()) {
    std::error_code error;
    const bool there = fs::exists(path, error);
    folder.warnings.push_back({there ? "manifest_damaged" : "manifest_missing",
                               fmt::format("{}: {}; the world size is taken from the ranks' files",
                                           path.string(), there ? "no JSON object" : "missing"),
                               kNoRank});
    return;
  }
  const auto number = [&](const char* key) -> std::optional<std::int32_t> {
    const auto found = manifest.find(key);
    if (found == manifest.end() || !found->is_number_integer()) return std::nullopt;
    const auto value = found->get<std::int64_t>();
    return value >= 0 && value <= INT32_MAX ? std::optional(static_cast<std::int32_t>(value)) : std::nullopt;
  };
  folder.end = {number("exit_code"), number("signal")};
  const auto world = manifest.find("world_size");
  if (world == manifest.end() || !world->is_number_integer()) return;
  const auto size = world->get<std::int64_t>();
  if (size > 0 && size <= INT32_MAX) folder.world_size = static_cast<std::int32_t>(size);
}

bool is_manifest_of_ours(const fs::path& path) {
  const nlohmann::json manifest = parse_manifest(path);
  if (!manifest.is_object()) return false;
  const auto format = manifest.find("format");
  return format != manifest.end() && format->is_string() &&
         format->get<std::string>().starts_with("lockstep");
}

}  // namespace

std::string read_doing(const fs::path& trace_file) {
  const nlohmann::json document =
      parse_manifest(trace_file.parent_path() / fmt::format("hang-{}.json", trace_file.stem().string()));
  if (!document.is_object()) return {};
  const auto doing = document.find("doing");
  return doing != document.end() && doing->is_string() ? doing->get<std::string>() : std::string();
}

bool is_run_folder(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().ends_with(kSuffix)) return true;
  }
  return is_manifest_of_ours(folder / kManifest);
}

Result<Folder> open_folder(const fs::path& path) {
  Folder folder;
  std::vector<std::pair<std::int32_t, fs::path>> ranks;
  std::vector<fs::path> clock_files;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("clock-") && name.ends_with(".json")) clock_files.push_back(at->path());
    if (!name.ends_with(kSuffix)) continue;
    if (const auto rank = rank_of(name))
      ranks.emplace_back(*rank, at->path());
    else
      folder.process_files.push_back(at->path());
  }
  if (error) return Error{fmt::format("{}: {}", path.string(), error.message())};
  std::sort(ranks.begin(), ranks.end());
  std::sort(folder.process_files.begin(), folder.process_files.end());
  for (auto& [rank, file] : ranks) folder.rank_files.push_back(std::move(file));
  if (folder.rank_files.empty() && folder.process_files.empty())
    return Error{
        fmt::format("{}: a run folder without traces: no process of the job did anything that is recorded "
                    "(PyTorch, CUDA, "
                    "NVTX), or none has been started yet",
                    path.string())};
  // A job of one process needs no launcher, and nobody told it that it is a rank.
  if (folder.rank_files.empty() && folder.process_files.size() == 1)
    folder.rank_files = std::exchange(folder.process_files, {});
  if (folder.rank_files.empty())
    return Error{fmt::format(
        "{}: no process of this run was a rank ({} recorded). To read one by itself: lockstep analyze '{}'",
        path.string(), counted(folder.process_files.size(), "process was", "processes were"),
        folder.process_files.front().string())};
  read_manifest(path / kManifest, folder);
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
    folder.warnings.push_back(
        {"processes_without_rank",
         fmt::format("{}: {} no rank and left out (the first: {})", path.string(),
                     counted(folder.process_files.size(), "recorded process is", "recorded processes are"),
                     folder.process_files.front().filename().string()),
         kNoRank});
  return folder;
}

}  // namespace lockstep::analyzer::run
