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
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/import/flight_recorder/flight_recorder.h"
#include "analyzer/import/input_files.h"
#include "analyzer/import/kineto/kineto.h"
#include "analyzer/import/nccl_log/nccl_log.h"
#include "analyzer/import/nsys/nsys.h"
#include "analyzer/import/rank/cycles.h"
#include "analyzer/import/rank/file_name.h"
#include "analyzer/import/rank/merge.h"
#include "analyzer/import/run/run.h"
#include "analyzer/model/stopped.h"

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

Result<std::vector<RankImport>> alone(Result<RankImport> rank) {
  if (!rank.ok()) return rank.error();
  std::vector<RankImport> ranks;
  ranks.push_back(std::move(rank).value());
  return ranks;
}

Result<std::vector<RankImport>> read_small(const InputFile& file, const ImportOptions& options,
                                           const JobEnd& end) {
  switch (file.kind) {
    case InputKind::run_file:
      return alone(run::import_file(
          file.path, {options.keep_host_ranges, options.communication.get(), end.interrupted_at}));
    case InputKind::flight_recorder:
      return alone(flight_recorder::import_file(file.path));
    case InputKind::nsys:
      return nsys::import_file(file.path, {options.keep_host_ranges, options.communication.get()});
    case InputKind::kineto:
    case InputKind::nccl_log:  // no rank's; read when the job is there
      break;
  }
  return Error{fmt::format("{}: of no known kind", file.path.string())};
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
  kineto::Options kineto_options;
  kineto_options.keep_host_ranges = options.keep_host_ranges;
  kineto_options.communication = options.communication.get();
  if (options.progress || options.stop.stop_possible()) kineto_options.progress = progress;
  const auto read_one = [&](const InputFile& file) -> Result<std::vector<RankImport>> {
    // Kineto's tells its progress itself.
    if (file.kind == InputKind::kineto) return alone(kineto::import_file(file.path, kineto_options));
    Result<std::vector<RankImport>> result = read_small(file, options, end);
    progress(file.size);
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

// NCCL cuts hosts' names at the first dot.
std::string_view first_label(std::string_view host) {
  return host.substr(0, host.find('.'));
}

// Where both name hosts, and none in common.
bool is_of_other_hosts(const Job& job) {
  std::set<std::string_view> hosts;
  for (const RankTrace& rank : job.ranks)
    if (!rank.host.empty()) hosts.insert(first_label(rank.host));
  return !hosts.empty() && !job.paths.empty() &&
         std::none_of(job.paths.begin(), job.paths.end(), [&](const ChannelPath& path) {
           return path.host.empty() || hosts.contains(first_label(path.host));
         });
}

// Over which ways ranks talk, as logs beside the traces say.
void take_paths(const std::vector<std::filesystem::path>& files, Job& job) {
  nccl_log::Log log;
  for (const std::filesystem::path& file : files)
    if (const Status status = log.add_file(file); !status.ok())
      job.warnings.push_back({"file_unreadable", status.error().message, kNoRank});
  job.paths = log.take_paths(job.world_size, job.groups, job.warnings);
  if (is_of_other_hosts(job)) {
    job.warnings.push_back({"nccl_log_of_other_hosts",
                            fmt::format("{}: of host {}, where no trace is from: of another job?",
                                        job.paths.front().file, job.paths.front().host),
                            kNoRank});
  }
}

// Runs of ours and dumps say how the job ended even where nothing else is left; profiles say nothing then.
bool holds_nothing(const Job& job) {
  return std::none_of(
             job.sources.begin(), job.sources.end(),
             [](const std::string& source) { return source == "lockstep" || source == "flight recorder"; }) &&
         std::all_of(job.ranks.begin(), job.ranks.end(), [](const RankTrace& rank) {
           return rank.activities.empty() && rank.steps.empty() && rank.host_ranges.empty();
         });
}

Error nothing_to_analyze(const Job& job) {
  const bool damaged = std::any_of(job.warnings.begin(), job.warnings.end(),
                                   [](const Warning& warning) { return warning.code == "file_damaged"; });
  std::string message = fmt::format(
      "{}: {}", job.path,
      damaged
          ? "what can be read of it holds no GPU kernels and no steps. Copy or export it again"
          : "no GPU kernels and no steps: nothing to analyze. A profile needs ProfilerActivity.CUDA "
            "(torch.profiler) or `nsys profile --trace=cuda,nvtx`; a timeline that holds several ranks, one "
            "a pid, is not read");
  for (const Warning& warning : job.warnings) message += fmt::format("\n  {}", warning.message);
  return Error{std::move(message)};
}

Result<Job> import_all(const std::vector<std::string>& paths, const ImportOptions& options) {
  Result<InputFiles> found = find_input_files(paths);
  if (!found.ok()) return found.error();
  std::vector<Warning> warnings = std::move(found.value().warnings);
  std::vector<RankImport> ranks;
  for (Result<std::vector<RankImport>>& result : read_all(found.value().files, options, found.value().end)) {
    if (result.ok())
      std::move(result.value().begin(), result.value().end(), std::back_inserter(ranks));
    else
      warnings.push_back({"file_unreadable", result.error().message, kNoRank});
  }
  if (options.stop.stop_requested()) return Error{"stopped before all was read"};
  // One file, one reason: nothing to add.
  if (ranks.empty() && warnings.size() == 1) return Error{std::move(warnings.front().message)};
  if (const Status status = join_cycles(ranks, options.cycle, warnings); !status.ok()) return status.error();
  // Whatever order they were given in.
  std::vector<std::string> named = paths;
  std::sort(named.begin(), named.end(), name_comes_before);
  Result<Job> job = merge_ranks(fmt::format("{}", fmt::join(named, " ")), std::move(ranks),
                                std::move(warnings), found.value().world_size);
  if (!job.ok()) return job;
  if (holds_nothing(job.value())) return nothing_to_analyze(job.value());
  job.value().end = found.value().end;
  take_exchanges(found.value().clocks, job.value());
  take_paths(found.value().nccl_logs, job.value());
  return job;
}

}  // namespace

Result<Job> import_job(const std::vector<std::string>& paths, const ImportOptions& options) {
  return guarded(paths.empty() ? std::string() : paths.front(), [&] { return import_all(paths, options); });
}

}  // namespace lockstep::analyzer
