#include "analyzer/import/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/import/importers.h"
#include "analyzer/import/input_files.h"
#include "analyzer/import/rank/communication_patterns.h"
#include "analyzer/import/rank/cycles.h"
#include "analyzer/import/rank/file_name.h"
#include "analyzer/import/rank/merge.h"
#include "analyzer/import/rank/rank_import.h"
#include "analyzer/import/rank/workers.h"
#include "analyzer/import/run/run.h"
#include "analyzer/import/several_recordings.h"
#include "analyzer/model/stopped.h"
#include "analyzer/model/warns_of.h"

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
std::vector<Result<std::vector<RankImport>>> read_all(const std::vector<InputFile>& files,
                                                      const ImportOptions& options, const JobEnd& end) {
  std::uint64_t total = 0;
  for (const InputFile& file : files) total += file.size;
  std::mutex mutex;
  std::uint64_t done = 0;
  const auto progress = [&](std::uint64_t bytes) {
    throw_if_stopped(options.stop);  // guarded() makes an error of it
    if (!options.progress) return;
    const std::lock_guard lock(mutex);
    done += bytes;
    options.progress(std::min(done, total), total);
  };
  ReadOptions reading{options.keep_host_ranges, options.communication.get(), end.interrupted_at, {}};
  if (options.progress || options.stop.stop_possible()) reading.progress = progress;
  const auto read_one = [&](const InputFile& file) {
    Result<std::vector<RankImport>> result = file.importer->read(file.path, reading);
    if (!file.importer->tells_progress) progress(file.size);
    return result;
  };

  SharedRanksPool rank_lists;
  std::vector<Result<std::vector<RankImport>>> results(files.size(), Error{});
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size() && !options.stop.stop_requested(); i = next++)
      results[i] = guarded(files[i].path, [&] {
        auto ranks = read_one(files[i]);
        if (ranks.ok())
          for (RankImport& rank : ranks.value())
            for (JobGroup& group : rank.groups) rank_lists.share(group.ranks);
        if (ranks.ok() && options.rank_read)
          std::for_each(ranks.value().begin(), ranks.value().end(), options.rank_read);
        return ranks;
      });
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

// The recorders' exchanges, on the job's axis as far as merging took the ranks there.
void take_exchanges(const std::vector<run::ClockLog>& logs, Job& job) {
  struct Known {
    std::uint32_t domain = 0;
    std::int64_t offset = 0;
  };
  std::map<std::string, Known> known;
  std::uint32_t next = 1;
  for (const RankTrace& rank : job.ranks) {
    known.emplace(rank.clock.name, Known{rank.clock.domain, rank.clock.offset_ns});
    next = std::max(next, rank.clock.domain + 1);
  }
  // A host without ranks may be the one that all others asked.
  const auto find = [&](const std::string& name) {
    const auto [where, fresh] = known.emplace(name, Known{next, 0});
    if (fresh) ++next;
    return where->second;
  };
  for (const run::ClockLog& log : logs) {
    const Known here = find(log.clock), there = find(log.peer);
    if (here.domain == there.domain) continue;
    for (ClockExchange exchange : log.exchanges) {
      exchange.here = here.domain;
      exchange.there = there.domain;
      exchange.asked += here.offset, exchange.received += here.offset;
      exchange.heard += there.offset, exchange.answered += there.offset;
      job.exchanges.push_back(exchange);
    }
  }
}

// What tells how the job ended says so even where nothing else is left; profiles say nothing then.
bool tells_how_it_ended(const std::string& source) {
  const auto importers = all_importers();
  return std::any_of(importers.begin(), importers.end(), [&](const Importer* importer) {
    return importer->source == source && importer->tells_how_it_ended;
  });
}

bool holds_nothing(const Job& job) {
  return std::none_of(job.sources.begin(), job.sources.end(), tells_how_it_ended) &&
         std::all_of(job.ranks.begin(), job.ranks.end(), [](const RankTrace& rank) {
           return rank.activities.empty() && rank.steps.empty() && rank.host_ranges.empty();
         });
}

Error nothing_to_analyze(const Job& job) {
  std::string message = fmt::format(
      "{}: {}", job.path,
      warns_of(job.warnings, "file_damaged")
          ? "what can be read of it holds no GPU kernels and no steps. Copy or export it again"
          : "no GPU kernels and no steps: nothing to analyze. A profile needs ProfilerActivity.CUDA "
            "(torch.profiler) or `nsys profile --trace=cuda,nvtx`; a timeline that holds several ranks, one "
            "a pid, is not read");
  for (const Warning& warning : job.warnings) message += fmt::format("\n  {}", warning.message);
  return Error{std::move(message)};
}

// Each kind's files together, in the order in which they were found.
void add_files_beside(const std::vector<InputFile>& files, Job& job) {
  for (const Importer* importer : all_importers()) {
    std::vector<std::filesystem::path> paths;
    for (const InputFile& file : files)
      if (file.importer == importer) paths.push_back(file.path);
    if (!paths.empty()) importer->add(paths, job);
  }
}

// Of the given paths those of runs of which another job's ranks were kept, and none of their own: how they
// ended and what their recorders noted says nothing of that job.
std::vector<std::string> runs_left_out(const std::vector<std::string>& paths, const Job& job) {
  std::vector<std::string> left_out;
  for (const std::string& path : paths) {
    if (!run::is_run_folder(path)) continue;
    const std::filesystem::path folder = (std::filesystem::path(path) / "file").parent_path();
    const auto is_in = [&](const RankTrace& rank) {
      return std::filesystem::path(rank.file).parent_path() == folder;
    };
    if (std::none_of(job.ranks.begin(), job.ranks.end(), is_in)) left_out.push_back(path);
  }
  return left_out.size() < paths.size() ? left_out : std::vector<std::string>();
}

// Of unreadable files those whose ranks no other file tells of: no rank is gone without a word. Returns how
// many ranks the job has at least; 0 where no rank is lost so.
std::int32_t name_lost_ranks(const std::vector<RankImport>& ranks, std::vector<Warning>& warnings) {
  std::set<std::int32_t> read;
  for (const RankImport& rank : ranks)
    if (rank.rank_known) read.insert(rank.trace.rank);
  std::int32_t lost = kNoRank;
  for (Warning& warning : warnings) {
    if (warning.code != "file_unreadable" || warning.rank == kNoRank || read.contains(warning.rank)) continue;
    lost = std::max(lost, warning.rank);
    warning.message = fmt::format("rank {}: nothing of it can be read: {}", warning.rank, warning.message);
  }
  if (lost == kNoRank) return 0;
  return std::min(std::max(lost, read.empty() ? 0 : *read.rbegin()), INT32_MAX - 1) + 1;
}

// What the user says communicates, and what does not occur: mistyped, or the name of something else.
void warn_of_patterns_without_use(const CommunicationPatterns& patterns, Job& job) {
  std::vector<bool> of_activities(job.strings.size(), false);
  for (const RankTrace& rank : job.ranks)
    for (const Activity& activity : rank.activities) of_activities[activity.name] = true;
  std::vector<std::string_view> names;
  for (std::uint32_t id = 0; id < of_activities.size(); ++id)
    if (of_activities[id]) names.push_back(job.strings.view(id));
  for (const std::string& pattern : patterns.not_found_in(names))
    job.warnings.push_back(
        {"communication_not_found",
         fmt::format(
             "--communication '{}' changes nothing: nothing that computes, copies or communicates has "
             "such a name. It can name kernels; in a PyTorch profile in which no GPU computes, outermost "
             "operators and user annotations. Other host ranges it can't",
             pattern),
         kNoRank});
}

Result<Job> import_all(const std::vector<std::string>& paths, const ImportOptions& options) {
  Result<InputFiles> found = find_input_files(paths);
  if (!found.ok()) return found.error();
  std::vector<Warning> warnings = std::move(found.value().warnings);
  std::vector<RankImport> ranks;
  const std::vector<InputFile>& files = found.value().files;
  std::vector<Result<std::vector<RankImport>>> results = read_all(files, options, found.value().end);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].ok())
      std::move(results[i].value().begin(), results[i].value().end(), std::back_inserter(ranks));
    else
      warnings.push_back({"file_unreadable", results[i].error().message, rank_of_trace_file(files[i].path)});
  }
  if (options.stop.stop_requested()) return Error{"stopped before all was read"};
  // One file, one reason: nothing to add.
  if (ranks.empty() && warnings.size() == 1) return Error{std::move(warnings.front().message)};
  settle_workers(ranks, files.size() == 1);
  if (const Status status = join_cycles(ranks, options.cycle, warnings); !status.ok()) return status.error();
  if (paths.size() == 1)
    if (const Status status = must_be_one_job(paths.front(), ranks); !status.ok()) return status.error();
  // Whatever order they were given in.
  std::vector<std::string> named = paths;
  std::sort(named.begin(), named.end(), name_comes_before);
  const std::int32_t at_least = ranks.empty() ? 0 : name_lost_ranks(ranks, warnings);
  const std::int32_t world_size = found.value().world_size > 0 ? found.value().world_size : at_least;
  Result<Job> job = merge_ranks(fmt::format("{}", fmt::join(named, " ")), std::move(ranks),
                                std::move(warnings), world_size);
  if (!job.ok()) return job;
  if (holds_nothing(job.value())) return nothing_to_analyze(job.value());
  if (const std::vector<std::string> left_out = runs_left_out(paths, job.value()); !left_out.empty()) {
    std::vector<std::string> rest = paths;
    std::erase_if(rest, [&](const std::string& path) {
      return std::find(left_out.begin(), left_out.end(), path) != left_out.end();
    });
    Result<Job> without = import_all(rest, options);
    if (!without.ok()) return without;
    without.value().path = std::move(job.value().path);
    for (Warning& warning : job.value().warnings)
      if (warning.code == "another_job" || warning.code == "rank_duplicate")
        without.value().warnings.push_back(std::move(warning));
    return without;
  }
  job.value().start = std::move(found.value().start);
  job.value().end = found.value().end;
  take_exchanges(found.value().clocks, job.value());
  add_files_beside(found.value().beside, job.value());
  if (options.communication) warn_of_patterns_without_use(*options.communication, job.value());
  return job;
}

}  // namespace

Result<Job> import_job(const std::vector<std::string>& paths, const ImportOptions& options) {
  return guarded(paths.empty() ? std::string() : paths.front(), [&] { return import_all(paths, options); });
}

}  // namespace lockstep::analyzer
