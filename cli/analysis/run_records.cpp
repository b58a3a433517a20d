#include "cli/analysis/run_records.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <utility>

#include "analyzer/gate/baseline.h"
#include "base/small_file.h"
#include "cli/analysis/load.h"

namespace lockstep::cli {
namespace {

Result<analyzer::RunRecord> read_run(const std::string& path, const ReadingArguments& reading,
                                     bool progress) {
  const Result<LoadedJob> loaded = load_steady_run(path, reading, progress);
  if (!loaded.ok()) return loaded.error();
  return analyzer::run_record(loaded.value().analysis.report);
}

}  // namespace

Result<std::vector<analyzer::RunRecord>> read_runs(const std::vector<std::string>& paths,
                                                   const ReadingArguments& reading, bool progress) {
  std::vector<analyzer::RunRecord> runs;
  for (const std::string& path : paths) {
    Result<analyzer::RunRecord> run = read_run(path, reading, progress);
    if (!run.ok()) return run.error();
    runs.push_back(std::move(run).value());
  }
  return runs;
}

Result<std::vector<analyzer::RunRecord>> read_baselines(const std::vector<std::string>& paths,
                                                        const ReadingArguments& reading, bool progress) {
  std::vector<analyzer::RunRecord> all;
  for (const std::string& path : paths) {
    Result<std::vector<analyzer::RunRecord>> runs = [&]() -> Result<std::vector<analyzer::RunRecord>> {
      if (!analyzer::is_baseline(path)) return read_runs({path}, reading, progress);
      Result<analyzer::Baseline> baseline = analyzer::read_baseline(path);
      if (!baseline.ok()) return baseline.error();
      return std::move(baseline).value().runs;
    }();
    if (!runs.ok()) return runs.error();
    for (analyzer::RunRecord& run : runs.value()) all.push_back(std::move(run));
  }
  return all;
}

Result<analyzer::Policy> read_policy(const std::string& path) {
  if (path.empty()) return analyzer::default_policy();
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return Error{fmt::format("--policy {}: there is no such file", path)};
  return analyzer::parse_policy(read_small_file(path, kWholeFile), path);
}

std::string today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

std::string now_in_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace lockstep::cli
