#include "viewer/opening/recent_runs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "base/small_file.h"
#include "viewer/opening/user_folder.h"

namespace lockstep::viewer {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLargestFile = 1'000'000;

std::string absolute(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  return error ? path : (whole.has_filename() ? whole : whole.parent_path()).string();
}

bool same_run(const RecentRun& a, const RecentRun& b) {
  return a.paths == b.paths && a.other == b.other;
}

bool can_be_written(const RecentRun& run) {
  return analyzer::is_valid_utf8(run.other) && !run.paths.empty() &&
         std::all_of(run.paths.begin(), run.paths.end(),
                     [](const std::string& path) { return analyzer::is_valid_utf8(path); });
}

// Held until destroyed; where it cannot be had, writers may lose each other's runs, and nothing else.
class Lock {
 public:
  explicit Lock(const fs::path& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR)) {
    while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Lock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

Status change(const fs::path& file,
              const std::function<std::vector<RecentRun>(std::vector<RecentRun>)>& change) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const Lock lock(file.string() + ".lock");
  const std::string text = to_text(change(read_recent_runs(file)));
  const fs::path temporary = fmt::format("{}.{}", file.string(), ::getpid());
  {
    std::ofstream stream(temporary, std::ios::binary);
    stream << text;
    if (!stream.flush()) return Error{fmt::format("{}: cannot be written", file.string())};
  }
  fs::rename(temporary, file, error);
  if (error) return Error{fmt::format("{}: {}", file.string(), error.message())};
  return {};
}

}  // namespace

RecentRun recent_run_of(const OpenedRun& opened, std::int64_t now) {
  RecentRun run;
  for (const std::string& path : opened.request.paths) run.paths.push_back(absolute(path));
  if (!opened.request.other.empty()) run.other = absolute(opened.request.other);
  run.ranks = static_cast<std::int64_t>(opened.scene->timeline().ranks.size());
  run.steps = static_cast<std::int64_t>(opened.scene->report().steps_present.size());
  run.opened = now;
  return run;
}

RunRequest request_of(const RecentRun& run) {
  return {run.paths, run.other, true};
}

Presence presence_of(const RecentRun& run) {
  std::vector<std::string> paths = run.paths;
  if (!run.other.empty()) paths.push_back(run.other);
  Presence presence = Presence::there;
  for (const std::string& path : paths) {
    std::error_code error;  // set of what does not exist too: the type tells it from other errors
    const fs::file_type type = fs::status(path, error).type();
    if (type == fs::file_type::not_found) return Presence::gone;
    if (type == fs::file_type::none) presence = Presence::unknown;
  }
  return presence;
}

std::string time_ago(std::int64_t then, std::int64_t now) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  // Nothing here is older than the clock, nor from the future but by a clock that was set back.
  const std::int64_t age = std::max<std::int64_t>(now - std::clamp<std::int64_t>(then, 0, now), 0);
  if (age < kMinute) return "just now";
  if (age < kHour) return format_plural(age / kMinute, "minute") + " ago";
  if (age < kDay) return format_plural(age / kHour, "hour") + " ago";
  if (age < 2 * kDay) return "yesterday";
  if (age < 30 * kDay) return format_plural(age / kDay, "day") + " ago";
  const std::chrono::year_month_day date(
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(now - age))));
  return fmt::format("on {:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::vector<RecentRun> with_run(std::vector<RecentRun> runs, const RecentRun& run) {
  std::erase_if(runs, [&run](const RecentRun& one) { return same_run(one, run); });
  runs.insert(runs.begin(), run);
  if (runs.size() > kMaxRecentRuns) runs.resize(kMaxRecentRuns);
  return runs;
}

std::string to_text(const std::vector<RecentRun>& runs) {
  std::string text;
  for (const RecentRun& run : runs) {
    if (!can_be_written(run)) continue;
    Json line{{"paths", run.paths}};
    if (!run.other.empty()) line["other"] = run.other;
    line["ranks"] = run.ranks;
    line["steps"] = run.steps;
    line["opened"] = run.opened;
    text += line.dump() + "\n";
  }
  return text;
}

std::vector<RecentRun> parse_recent_runs(std::string_view text) {
  std::vector<RecentRun> runs;
  while (!text.empty() && runs.size() < kMaxRecentRuns) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    try {
      RecentRun run;
      run.paths = json.at("paths").get<std::vector<std::string>>();
      run.other = json.value("other", "");
      run.ranks = std::max<std::int64_t>(json.value("ranks", std::int64_t{0}), 0);
      run.steps = std::max<std::int64_t>(json.value("steps", std::int64_t{0}), 0);
      run.opened = json.value("opened", std::int64_t{0});
      const bool known =
          std::any_of(runs.begin(), runs.end(), [&run](const RecentRun& one) { return same_run(one, run); });
      if (!run.paths.empty() && !known) runs.push_back(std::move(run));
    } catch (const Json::exception&) {
      // A line that is not ours.
    }
  }
  return runs;
}

fs::path recent_runs_file() {
  return user_folder("XDG_STATE_HOME", ".local/state") / "recent-runs";
}

std::vector<RecentRun> read_recent_runs(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  return parse_recent_runs(read_small_file(file.string(), kLargestFile));
}

Status remember_run(const fs::path& file, const RecentRun& run) {
  return change(file, [&run](std::vector<RecentRun> runs) { return with_run(std::move(runs), run); });
}

Status forget_run(const fs::path& file, const RecentRun& run) {
  return change(file, [&run](std::vector<RecentRun> runs) {
    std::erase_if(runs, [&run](const RecentRun& one) { return same_run(one, run); });
    return runs;
  });
}

}  // namespace lockstep::viewer
