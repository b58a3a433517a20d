#include "analyzer/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/import/flight_recorder/flight_recorder.h"
#include "analyzer/import/input_files.h"
#include "analyzer/import/kineto/kineto.h"
#include "analyzer/import/rank/merge.h"
#include "analyzer/import/run/run.h"

namespace lockstep::analyzer {
namespace {

// No exception leaves this library: what is left of them (no memory) becomes an error that names the file.
template <class F>
auto guarded(const std::filesystem::path& path, F&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("{}: not enough memory", path.string())};
  } catch (const std::exception& exception) {
    return Error{fmt::format("{}: {}", path.string(), exception.what())};
  }
}

// Files are read in parallel, each by one thread; the table of a file is private to it until the ranks are
// merged.
std::vector<Result<RankImport>> read_all(const std::vector<InputFile>& files, const ImportOptions& options) {
  std::uint64_t total = 0;
  for (const InputFile& file : files) total += file.size;
  std::mutex mutex;
  std::uint64_t done = 0;
  const auto progress = [&](std::uint64_t bytes) {
    const std::lock_guard lock(mutex);
    done += bytes;
    options.progress(std::min(done, total), total);
  };
  kineto::Options kineto_options;
  kineto_options.keep_host_ranges = options.keep_host_ranges;
  if (options.progress) kineto_options.progress = progress;
  const auto read_one = [&](const InputFile& file) -> Result<RankImport> {
    switch (file.kind) {
      case InputKind::kineto:
        return kineto::import_file(file.path, kineto_options);
      case InputKind::run_file: {
        Result<RankImport> result = run::import_file(file.path, {options.keep_host_ranges});
        if (options.progress) progress(file.size);
        return result;
      }
      case InputKind::flight_recorder: {
        Result<RankImport> result = flight_recorder::import_file(file.path);
        if (options.progress) progress(file.size);
        return result;
      }
    }
    return Error{fmt::format("{}: of no known kind", file.path.string())};
  };

  std::vector<Result<RankImport>> results(files.size(), Error{});
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++)
      results[i] = guarded(files[i].path, [&] { return read_one(files[i]); });
  };
  const std::size_t threads =
      std::min<std::size_t>(files.size(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> pool;
  try {
    for (std::size_t i = 1; i < threads; ++i) pool.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those that there are read everything.
  }
  work();
  for (std::thread& thread : pool) thread.join();
  return results;
}

Result<Job> import_all(const std::vector<std::string>& paths, const ImportOptions& options) {
  Result<InputFiles> found = find_input_files(paths);
  if (!found.ok()) return found.error();
  std::vector<Warning> warnings = std::move(found.value().warnings);
  std::vector<RankImport> ranks;
  for (Result<RankImport>& result : read_all(found.value().files, options)) {
    if (result.ok())
      ranks.push_back(std::move(result).value());
    else
      warnings.push_back({"file_unreadable", result.error().message, kNoRank});
  }
  // One file, one reason: nothing to add.
  if (ranks.empty() && warnings.size() == 1) return Error{std::move(warnings.front().message)};
  Result<Job> job = merge_ranks(fmt::format("{}", fmt::join(paths, " ")), std::move(ranks),
                                std::move(warnings), found.value().world_size);
  if (job.ok()) job.value().end = found.value().end;
  return job;
}

}  // namespace

Result<Job> import_job(const std::vector<std::string>& paths, const ImportOptions& options) {
  return guarded(paths.empty() ? std::string() : paths.front(), [&] { return import_all(paths, options); });
}

}  // namespace lockstep::analyzer
