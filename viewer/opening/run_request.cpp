#include "viewer/opening/run_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "analyzer/report/unicode.h"

namespace lockstep::viewer {

namespace {

namespace fs = std::filesystem;

// "runs/a/" is called "a", "." as the folder that it is.
std::string last_name(const std::string& path) {
  std::error_code error;
  const std::string whole = fs::absolute(path, error).lexically_normal().string();
  const std::string name = last_part_of(whole);
  return analyzer::printable(name.empty() ? whole : name);
}

}  // namespace

std::string last_part_of(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return "";
  const std::size_t slash = path.rfind('/', end);
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(begin, end + 1 - begin);
}

RunRequest request_of(std::vector<std::string> paths, bool keep) {
  RunRequest request{std::move(paths), "", keep};
  std::error_code error;
  const bool two_folders =
      request.paths.size() == 2 &&
      std::all_of(request.paths.begin(), request.paths.end(),
                  [&error](const std::string& path) { return fs::is_directory(path, error); });
  if (two_folders) {
    request.other = request.paths[1];
    request.paths.pop_back();
  }
  return request;
}

std::string name_of(const RunRequest& request) {
  if (request.paths.empty()) return "";
  std::string name = last_name(request.paths.front());
  if (request.paths.size() > 1) name += fmt::format(" and {} more", request.paths.size() - 1);
  if (!request.other.empty()) name += " and " + last_name(request.other);
  return name;
}

std::string place_of(const RunRequest& request) {
  if (request.paths.empty()) return "";
  std::error_code error;
  fs::path whole = fs::absolute(request.paths.front(), error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return analyzer::printable(whole.parent_path().string());
}

double OpeningProgress::share() const {
  // Where each stage begins, and where the last one ends.
  constexpr std::array kBegin{0.0, 0.6, 0.8, 1.0};
  const auto at = static_cast<std::size_t>(stage);
  const double of_run = kBegin[at] + (kBegin[at + 1] - kBegin[at]) * std::clamp(done, 0.0, 1.0);
  return (static_cast<double>(run) + of_run) / static_cast<double>(std::max(runs, run + 1));
}

Result<OpenedRun> open_request(const RunRequest& request, const TellProgress& tell,
                               const std::stop_token& stop) {
  OpeningProgress progress;
  progress.runs = request.other.empty() ? 1 : 2;
  OpenedRun opened;
  opened.request = request;
  const auto open_one = [&](const std::vector<std::string>& paths) {
    const InputFiles files = look_at(paths);
    opened.on_disk.push_back({paths, files.fingerprint});
    progress.bytes = files.bytes;
    OpenOptions options;
    options.keep = request.keep;
    options.clocks = request.clocks;
    options.communication = request.communication;
    options.cycle = request.cycle;
    options.all_steps = request.all_steps;
    options.stop = stop;
    progress.preview = nullptr;
    if (tell) {
      options.preview = [&](RunPreview preview) {
        progress.preview = std::make_shared<const RunPreview>(std::move(preview));
        tell(progress);
      };
      options.progress = [&](OpeningStage stage, double done) {
        progress.stage = stage;
        progress.done = done;
        tell(progress);
      };
    }
    return open_run(paths, files, options);
  };
  Result<std::unique_ptr<Scene>> first = open_one(request.paths);
  if (!first.ok()) return first.error();
  opened.scene = std::move(first).value();
  if (request.other.empty()) return opened;
  progress.run = 1;
  Result<std::unique_ptr<Scene>> second = open_one({request.other});
  if (!second.ok()) return Error{"--diff: " + second.error().message};
  opened.other = std::move(second).value();
  return opened;
}

}  // namespace lockstep::viewer
