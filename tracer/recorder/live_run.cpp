#include "tracer/recorder/live_run.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/small_file.h"
#include "tracer/protocol/environment.h"
#include "tracer/recorder/attach.h"
#include "tracer/recorder/read_manifest.h"
#include "tracer/recorder/run_folder.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

constexpr int kAskMilliseconds = 2000;
constexpr unsigned kTurnsBetweenLooks = 4;  // a folder may be on a disk that many hosts share

std::vector<nlohmann::json> manifests_of(const fs::path& run) {
  std::vector<nlohmann::json> manifests;
  std::error_code error;
  for (fs::directory_iterator entry(run, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("manifest") && is_run_file_name(name))
      manifests.push_back(read_manifest(entry->path()));
  }
  return manifests;
}

bool says_running(const nlohmann::json& manifest) {
  return value_of<std::string>(manifest, "state", "") == "running";
}

bool is_of_this_host(const nlohmann::json& manifest) {
  return value_of<std::string>(manifest, "host", "") == host_name();
}

std::int64_t recorder_of(const nlohmann::json& manifest) {
  return value_of<std::int64_t>(manifest, "recorder_process", 0);
}

}  // namespace

bool is_recorder(std::int64_t process) {
  // In containers numbers are small, and the one of a recorder that was killed may be ours now.
  if (process <= 1 || process == getpid() || kill(static_cast<pid_t>(process), 0) != 0) return false;
  // Its words, not its executable: that may have been installed anew meanwhile.
  const std::string words = read_small_file(fmt::format("/proc/{}/cmdline", process), kWholeFile);
  const std::string program = words.substr(0, words.find('\0'));
  const std::size_t verb = program.size() + 1;
  return fs::path(program).filename() == "lockstep" &&
         words.compare(verb, 7, std::string("record\0", 7)) == 0;
}

std::optional<std::string> who_records_into(const fs::path& run) {
  for (const Answer& answer : ask_all(run, "status", kAskMilliseconds)) {
    // One that is stopped, or waits for its disk, is there all the same.
    if (answer.elsewhere || answer.has_closed) continue;
    return fmt::format("{} (process {})", answer.name, answer.process);
  }
  for (const nlohmann::json& manifest : manifests_of(run)) {
    if (!says_running(manifest) || !is_of_this_host(manifest)) continue;
    const auto recorder = recorder_of(manifest);
    if (is_recorder(recorder)) return fmt::format("process {} (lockstep record)", recorder);
  }
  return std::nullopt;
}

std::optional<std::string> other_host_that_records(const fs::path& run) {
  for (const nlohmann::json& manifest : manifests_of(run)) {
    if (says_running(manifest) && !is_of_this_host(manifest))
      return value_of<std::string>(manifest, "host", "");
  }
  return std::nullopt;
}

bool is_running(const fs::path& run) {
  const std::vector<nlohmann::json> manifests = manifests_of(run);
  return std::all_of(manifests.begin(), manifests.end(), [](const nlohmann::json& manifest) {
    if (!manifest.is_object()) return true;  // just being created
    return says_running(manifest) && (!is_of_this_host(manifest) || is_recorder(recorder_of(manifest)));
  });
}

FolderWatch::FolderWatch(fs::path run, std::string manifest, std::int64_t start_realtime)
    : run_(std::move(run)), manifest_(std::move(manifest)), start_realtime_(start_realtime) {}

void FolderWatch::look() {
  if (turns_++ % kTurnsBetweenLooks != 0) return;
  for (const fs::path& file : trace_files(run_)) seen_.insert(file.filename().string());
}

FolderWatch::Ownership FolderWatch::ownership() const {
  const fs::path path = run_ / manifest_;
  const std::optional<std::string> text = read_all_or_nothing(path.string());
  if (!text.has_value()) {
    const int reason = errno;
    if (reason == ENOENT || reason == ENOTDIR) return {Owner::nobody, ""};
    // A named pipe, say, in its place.
    std::error_code error;
    const fs::file_type type = fs::status(path, error).type();
    if (!error && type != fs::file_type::regular) return {Owner::nobody, ""};
    return {Owner::unknown, std::generic_category().message(reason)};
  }
  const nlohmann::json manifest = nlohmann::json::parse(*text, nullptr, false);
  if (!manifest.is_object()) return {Owner::unknown, "it is no JSON any more"};
  const bool ours = recorder_of(manifest) == getpid() &&
                    value_of<std::int64_t>(manifest, "start_realtime", 0) == start_realtime_;
  return {ours ? Owner::we : Owner::another, ""};
}

std::vector<std::string> FolderWatch::vanished() const {
  std::vector<std::string> gone;
  std::error_code error;
  for (const std::string& name : seen_) {
    if (!fs::exists(run_ / name, error) && !error) gone.push_back(name);
  }
  return gone;
}

}  // namespace lockstep::tracer::record
