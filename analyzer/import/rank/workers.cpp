#include "analyzer/import/rank/workers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/import/rank/cycles.h"
#include "analyzer/import/rank/file_name.h"

namespace lockstep::analyzer {
namespace {

// Recordings of one host that lie further apart are of different jobs.
constexpr std::int64_t kSameJobNs = 10'000'000'000;
// Wall clocks of a job's hosts disagree by less.
constexpr std::int64_t kClocksAgreeNs = 1'000'000'000;

struct Process {
  std::string host;
  std::int64_t id = 0;
  auto operator<=>(const Process&) const = default;
};

// Without an id: not known.
Process process_of(const RankImport& import) {
  const std::optional<HandlerName> name = handler_file_name(import.trace.file);
  if (!name) return {"", import.process};
  return {name->host, import.process != 0 ? import.process : name->process};
}

// Where no host is known, equal numbers of processes prove little: each container counts from 1.
bool is_of_one_process(const RankImport& first, const RankImport& second) {
  if (!is_later_cycle(first, second)) return false;
  if (!process_of(first).host.empty()) return true;
  if (!first.trace.steps.empty() && !second.trace.steps.empty())
    return first.trace.steps.back().number < second.trace.steps.front().number;
  std::int64_t gap = 0;
  return first.clock_name == "wall clock" &&
         !__builtin_sub_overflow(recorded_span(second)->begin, recorded_span(first)->end, &gap) &&
         gap >= kClocksAgreeNs;
}

using Files = std::vector<std::size_t>;  // of one process, by time

std::vector<Files> workers_among(const std::vector<RankImport>& imports) {
  std::map<Process, Files> files;
  std::vector<Files> workers;
  for (std::size_t i = 0; i < imports.size(); ++i) {
    const RankImport& import = imports[i];
    if (!import.may_be_a_cycle || (import.rank_known && !import.rank_is_guessed)) continue;
    if (const Process process = process_of(import); process.id != 0)
      files[process].push_back(i);
    else
      workers.push_back({i});
  }
  for (auto& [process, of] : files) {
    order_by_time(imports, of);
    bool one = true;
    for (std::size_t i = 0; i + 1 < of.size(); ++i)
      one = one && is_of_one_process(imports[of[i]], imports[of[i + 1]]);
    if (one)
      workers.push_back(of);
    else
      std::transform(of.begin(), of.end(), std::back_inserter(workers),
                     [](std::size_t file) { return Files{file}; });
  }
  return workers;
}

// Several numbers of one process's files, or one that nothing supports.
bool numbers_are_no_ranks(const std::vector<RankImport>& imports, const std::vector<Files>& workers,
                          bool alone) {
  if (alone && imports.size() == 1) {
    const RankImport& only = imports.front();
    return only.rank_is_guessed && only.possible_ranks.empty() && only.world_size == 0;
  }
  return std::any_of(workers.begin(), workers.end(), [&](const Files& files) {
    return std::any_of(files.begin(), files.end(), [&](std::size_t file) {
      const RankImport& first = imports[files.front()];
      return imports[file].rank_is_guessed &&
             (!first.rank_known || imports[file].trace.rank != first.trace.rank);
    });
  });
}

void take_back_guess(RankImport& import) {
  if (!import.rank_is_guessed) return;
  import.rank_known = false;
  import.trace.rank = 0;
  std::erase_if(import.warnings,
                [](const Warning& warning) { return warning.code == "rank_from_file_name"; });
}

// Each went on until the last began, or nearly. Clocks of one job's hosts differ by less than that.
bool ran_at_one_time(const std::vector<RankImport>& imports) {
  std::vector<TimeSpan> spans;
  for (const RankImport& import : imports) {
    if (import.clock_name != imports.front().clock_name) return false;
    if (const auto span = recorded_span(import)) spans.push_back(*span);
  }
  if (spans.size() < imports.size()) return false;
  // Of each worker from the first of its files to the last.
  std::map<std::int32_t, TimeSpan> of_worker;
  for (std::size_t i = 0; i < imports.size(); ++i) {
    TimeSpan& whole = of_worker.emplace(imports[i].worker, spans[i]).first->second;
    whole = {std::min(whole.begin, spans[i].begin), std::max(whole.end, spans[i].end)};
  }
  const auto latest_begin =
      std::max_element(of_worker.begin(), of_worker.end(), [](const auto& a, const auto& b) {
        return a.second.begin < b.second.begin;
      })->second.begin;
  return std::all_of(of_worker.begin(), of_worker.end(), [&](const auto& worker) {
    std::int64_t gap = 0;
    return !__builtin_sub_overflow(latest_begin, worker.second.end, &gap) && gap <= kSameJobNs;
  });
}

// Whether workers 0, 1, … may be ranks 0, 1, …: their groups, where they have any, are of as many ranks.
bool may_be_numbered(const std::vector<RankImport>& imports, std::size_t workers) {
  std::vector<std::int32_t> numbers(workers);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<std::int32_t> in_groups;
  for (const RankImport& import : imports) {
    if (import.possible_ranks.empty()) continue;
    if (!std::binary_search(import.possible_ranks.begin(), import.possible_ranks.end(), import.worker))
      return false;
    std::vector<std::int32_t> all;
    std::set_union(in_groups.begin(), in_groups.end(), import.possible_ranks.begin(),
                   import.possible_ranks.end(), std::back_inserter(all));
    in_groups = std::move(all);
  }
  const bool world_fits = std::all_of(imports.begin(), imports.end(), [&](const RankImport& import) {
    return import.world_size == 0 || import.world_size == static_cast<std::int32_t>(workers);
  });
  return world_fits && (in_groups.empty() || in_groups == numbers);
}

void number_processes(std::vector<RankImport>& imports, std::size_t workers) {
  const auto is_named = [](const RankImport& import) {
    return handler_file_name(import.trace.file).has_value();
  };
  if (workers < 2 || (workers == imports.size() && !std::all_of(imports.begin(), imports.end(), is_named)) ||
      !std::all_of(imports.begin(), imports.end(), [](const RankImport& import) {
        return import.may_be_a_cycle && !import.rank_known && process_of(import).id != 0;
      }))
    return;
  if (!ran_at_one_time(imports) || !may_be_numbered(imports, workers)) return;
  for (RankImport& import : imports) {
    import.trace.rank = import.worker;
    import.rank_known = import.rank_is_assumed = true;
  }
  // keep_one_job() counts them as they stand here.
  std::stable_sort(imports.begin(), imports.end(),
                   [](const RankImport& a, const RankImport& b) { return a.worker < b.worker; });
}

}  // namespace

void settle_workers(std::vector<RankImport>& imports, bool alone) {
  std::vector<Files> workers = workers_among(imports);
  if (numbers_are_no_ranks(imports, workers, alone))
    for (RankImport& import : imports) take_back_guess(import);
  std::sort(workers.begin(), workers.end(), [&](const Files& a, const Files& b) {
    const RankImport &left = imports[a.front()], &right = imports[b.front()];
    const Process first = process_of(left), second = process_of(right);
    if (first.host != second.host) {
      if (name_comes_before(first.host, second.host)) return true;
      if (name_comes_before(second.host, first.host)) return false;
    }
    const std::string &device = left.trace.device, &other = right.trace.device;
    if (!first.host.empty() && device != other)
      return std::tuple(device.size(), device) < std::tuple(other.size(), other);
    return name_comes_before(left.trace.file, right.trace.file);
  });
  for (std::size_t worker = 0; worker < workers.size(); ++worker)
    for (const std::size_t file : workers[worker]) imports[file].worker = static_cast<std::int32_t>(worker);
  number_processes(imports, workers.size());
}

}  // namespace lockstep::analyzer
