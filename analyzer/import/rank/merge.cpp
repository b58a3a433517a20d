#include "analyzer/import/rank/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/import/rank/group_members.h"
#include "analyzer/import/rank/group_names.h"
#include "analyzer/import/rank/one_job.h"
#include "analyzer/model/check_job.h"
#include "analyzer/model/map_times.h"
#include "base/counts.h"
#include "base/number_lists.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int32_t kLargestWorld = 1 << 20;

void warn(Job& job, std::string code, std::string message, std::int32_t rank = kNoRank) {
  job.warnings.push_back({std::move(code), std::move(message), rank});
}

// "rank 8 or 9", "one of ranks 0, 1, 2, 3 and 12 others".
std::string name_possible(const std::vector<std::int32_t>& ranks) {
  constexpr std::ptrdiff_t kMost = 4;
  if (ranks.size() == 2) return fmt::format("rank {} or {}", ranks[0], ranks[1]);
  const std::vector<std::int32_t> first(ranks.begin(), ranks.begin() + std::min(std::ssize(ranks), kMost));
  return fmt::format(
      "one of ranks {}{}", fmt::join(first, ", "),
      ranks.size() > first.size()
          ? fmt::format(" and {}", format_plural(ranks.size() - first.size(), "other", "others"))
          : "");
}

// Why a file is of no known rank.
std::string why_unknown(const RankImport& import) {
  if (import.rank_is_guessed && import.possible_ranks.empty())
    return fmt::format("{}: no rank in the file, and nothing says that the number in its name is one",
                       import.trace.file);
  if (import.possible_ranks.empty())
    return fmt::format("{}: neither the file nor its name says which rank it is", import.trace.file);
  return fmt::format("{}: its groups say that it is {}, and its name does not say which of them",
                     import.trace.file, name_possible(import.possible_ranks));
}

// What to do about a file that names no rank, beside others.
std::string advice(const RankImport& import) {
  if (import.source == "lockstep") return "It is of a process that was no rank: analyze it alone";
  if (import.trace.activities.empty() && import.trace.ending.operations.empty())
    return "It holds no GPU kernels either: it is no trace of one rank. A timeline that holds several ranks, "
           "one a pid, is not read; torch.profiler writes one file a rank";
  if (import.source == "kineto")
    return "Name it rank-<N>.json (of several files of one process: rank-<N>_1.json, rank-<N>_2.json, …), or "
           "analyze it alone";
  return import.possible_ranks.empty() ? "Name it rank-<N>.json" : "Name it rank-<N>";
}

// A file that names no rank can only be understood alone: then it is rank 0, or the first that it may be. Of
// two files of a rank the first is kept: in a folder, the first by name.
void settle_ranks(Job& job, std::vector<RankImport>& imports) {
  std::vector<RankImport> kept;
  std::map<std::int32_t, std::string> file_of;
  for (RankImport& import : imports) {
    RankTrace& trace = import.trace;
    if (!import.rank_known && imports.size() == 1) {
      trace.rank = import.possible_ranks.empty() ? 0 : import.possible_ranks.front();
      import.warn("rank_unknown", fmt::format("{}; taken as rank {}", why_unknown(import), trace.rank));
    } else if (!import.rank_known) {
      warn(job, "rank_unknown", fmt::format("{}; left out. {}", why_unknown(import), advice(import)));
      continue;
    }
    const auto [where, fresh] = file_of.emplace(trace.rank, trace.file);
    if (!fresh) {
      warn(job, "rank_duplicate",
           fmt::format("rank {} twice: {} is used, as it comes first; {} is left out (to use that one, move "
                       "the other away)",
                       trace.rank, where->second, trace.file),
           trace.rank);
      continue;
    }
    kept.push_back(std::move(import));
  }
  imports = std::move(kept);
  std::sort(imports.begin(), imports.end(),
            [](const RankImport& a, const RankImport& b) { return a.trace.rank < b.trace.rank; });
}

void settle_world(Job& job, const std::vector<RankImport>& imports) {
  const bool declared = job.world_size > 0;
  if (!declared) job.world_size = static_cast<std::int32_t>(imports.size());
  std::set<std::int32_t> present;
  for (const RankImport& import : imports) present.insert(import.trace.rank);
  if (*present.rbegin() >= job.world_size) {
    if (declared)
      warn(job, "world_size_mismatch",
           fmt::format("rank {} is there although the world size is declared as {}", *present.rbegin(),
                       job.world_size),
           *present.rbegin());
    job.world_size = std::min(*present.rbegin(), kLargestWorld - 1) + 1;
  }
  for (std::int32_t rank = 0; rank < std::min(job.world_size, kLargestWorld); ++rank)
    if (!present.contains(rank)) job.ranks_missing.push_back(rank);
}

bool shift(RankTrace& trace, std::int64_t by) {
  if (by == 0) return true;
  const auto moved = [by](Nanoseconds time) {
    Nanoseconds result = 0;
    if (__builtin_add_overflow(time, by, &result)) return by < 0 ? -kTimeLimit : kTimeLimit;
    return result;
  };
  if (!map_times(trace, moved)) return false;
  trace.clock.offset_ns += by;
  return true;
}

constexpr std::size_t kMaxDevicesOfAHost = 16;

// Whether files that name no hosts are surely of several: more ranks than a host has devices, or two ranks on
// the same one of several devices. (Where all ranks see one device, a launcher shows each its own as number
// 0.)
bool are_of_several_hosts(const std::vector<RankImport>& imports) {
  if (imports.size() > kMaxDevicesOfAHost) return true;
  std::set<std::string> devices;
  for (const RankImport& import : imports) {
    if (!import.trace.device.starts_with("cuda:")) return false;
    devices.insert(import.trace.device);
  }
  return devices.size() > 1 && devices.size() < imports.size();
}

// Which ranks share a clock, by its name. Where files name no hosts and are surely of several, a wall clock
// is one a host: ranks in a row whose device numbers rise are taken to be on one.
std::vector<std::string> clock_names(const std::vector<RankImport>& imports) {
  std::vector<std::string> names;
  names.reserve(imports.size());
  for (const RankImport& import : imports) names.push_back(import.clock_name);
  const bool hosts_known = std::any_of(imports.begin(), imports.end(),
                                       [](const RankImport& import) { return !import.trace.host.empty(); });
  if (hosts_known || !are_of_several_hosts(imports)) return names;
  std::size_t host = 0;
  for (std::size_t i = 0; i < imports.size(); ++i) {
    const auto device = [&](std::size_t rank) {
      const std::string& name = imports[rank].trace.device;
      return std::pair(name.size(), name);
    };
    if (i > 0 && device(i) <= device(i - 1)) ++host;
    names[i] += fmt::format(" of host {}", host);
  }
  return names;
}

// Onto one clock, as well as the files themselves can tell: analyzer/align does the rest.
void settle_clocks(Job& job, std::vector<RankImport>& imports) {
  const std::vector<std::string> names = clock_names(imports);
  std::map<std::string, std::size_t> ranks_on;
  for (const std::string& name : names) ++ranks_on[name];
  const std::size_t first =
      static_cast<std::size_t>(std::max_element(names.begin(), names.end(),
                                                [&](const std::string& a, const std::string& b) {
                                                  return ranks_on[a] < ranks_on[b];
                                                }) -
                               names.begin());
  // What the first rank of each clock says holds for the others: they differ by what they count from alone.
  struct Domain {
    std::uint32_t number = 0;
    std::int64_t zero = 0;
    std::optional<std::int64_t> realtime;
  };
  const Domain own{0, imports[first].clock_zero, imports[first].realtime_of_zero};
  std::map<std::string, Domain> domains{{names[first], own}};
  job.realtime_of_zero = own.realtime;
  for (std::size_t i = 0; i < imports.size(); ++i) {
    RankImport& import = imports[i];
    Clock& clock = import.trace.clock;
    const auto number = static_cast<std::uint32_t>(domains.size());
    const Domain domain =
        domains.emplace(names[i], Domain{number, import.clock_zero, import.realtime_of_zero}).first->second;
    clock.domain = domain.number;
    clock.name = names[i];
    std::int64_t to_own = 0, by = 0;
    const bool comparable = import.clock_name == imports[first].clock_name
                                ? !__builtin_sub_overflow(domain.zero, own.zero, &to_own)
                                : domain.realtime && own.realtime &&
                                      !__builtin_sub_overflow(*domain.realtime, *own.realtime, &to_own);
    const bool fits = !__builtin_sub_overflow(import.clock_zero, domain.zero, &by) &&
                      !__builtin_add_overflow(by, comparable ? to_own : 0, &by) && shift(import.trace, by);
    if (!comparable || !fits) {
      clock.related = false;
      clock.evidence = "none";
      if (!fits) {
        clock.name += fmt::format(" of rank {}", import.trace.rank);
        clock.domain = number;
        domains.emplace(clock.name, Domain{number, 0, std::nullopt});
      }
    } else if (clock.domain != 0) {
      clock.evidence = "wall clock";
      clock.uncertainty_ns = kWallClockUncertaintyNs;
    }
  }
}

// The job's groups, as the files' are added to them.
class GroupMerge {
 public:
  GroupMerge(Job& job, const std::vector<RankImport>& imports) : job_(job) {
    for (const RankImport& import : imports)
      for (const JobGroup& group : import.groups)
        if (!group.ranks.empty() && !group.name.empty())
          lists_of_[{group.name, group.description}].insert(group.ranks);
  }

  // Which of the job's groups each of the file's is. Long lists of ranks are cut in some files: a group known
  // by name alone is the one fully known group of that name that holds the rank, if there is exactly one.
  std::vector<std::uint32_t> add(const RankImport& import) {
    std::vector<std::uint32_t> ids;
    for (JobGroup group : import.groups) {
      if (group.ranks.empty() && !group.name.empty()) {
        group.ranks = only_list(group, import.trace.rank);
        if (!group.ranks.empty()) group.may_have_others = false;
      }
      const auto [known, is_new] = ids_.try_emplace(Key(group.name, group.description, group.ranks),
                                                    static_cast<std::uint32_t>(job_.groups.size()));
      ids.push_back(known->second);
      if (is_new) job_.groups.push_back(std::move(group));
    }
    return ids;
  }

 private:
  using Key = std::tuple<std::string, std::string, SharedRanks>;

  SharedRanks only_list(const JobGroup& group, std::int32_t rank) const {
    const auto lists = lists_of_.find({group.name, group.description});
    if (lists == lists_of_.end()) return {};
    SharedRanks only;
    for (const SharedRanks& list : lists->second) {
      if (!std::binary_search(list.begin(), list.end(), rank)) continue;
      if (!only.empty()) return {};
      only = list;
    }
    return only;
  }

  Job& job_;
  std::map<Key, std::uint32_t> ids_;
  std::map<std::pair<std::string, std::string>, std::set<SharedRanks>> lists_of_;  // by name and description
};

// Groups whose members no file names have those that tell of it.
void fill_members_by_holders(std::vector<RankImport>& imports) {
  std::map<std::pair<std::string, std::string>, std::set<std::int32_t>> holders;
  for (const RankImport& import : imports) {
    if (!import.groups_are_its_own) continue;
    for (const JobGroup& group : import.groups)
      holders[{group.name, group.description}].insert(import.trace.rank);
  }
  std::map<std::pair<std::string, std::string>, SharedRanks> lists;
  for (const auto& [group, ranks] : holders)
    lists[group] = std::vector<std::int32_t>(ranks.begin(), ranks.end());
  for (RankImport& import : imports) {
    if (!import.groups_are_its_own) continue;
    for (JobGroup& group : import.groups) {
      if (!group.ranks.empty()) continue;
      group.ranks = lists.at({group.name, group.description});
      group.may_have_others = true;
    }
  }
}

// What holds of most ranks alike is said of the first.
void say_once(Job& job, std::string_view code) {
  Warning* first = nullptr;
  std::size_t others = 0;
  std::erase_if(job.warnings, [&](const Warning& warning) {
    if (warning.code != code) return false;
    return others++ > 0;
  });
  for (Warning& warning : job.warnings)
    if (warning.code == code) first = &warning;
  if (first == nullptr || others < 2) return;
  first->message += fmt::format(" (and {} alike)", format_plural(others - 1, "other rank", "other ranks"));
  first->rank = kNoRank;
}

// What several files say in the same words is said once, with their ranks.
void say_once_with_ranks(Job& job, std::string_view code) {
  std::map<std::string, std::vector<std::int32_t>> ranks_by_message;
  std::erase_if(job.warnings, [&](const Warning& warning) {
    if (warning.code != code || warning.rank == kNoRank) return false;
    std::vector<std::int32_t>& ranks = ranks_by_message[warning.message];
    ranks.push_back(warning.rank);
    return ranks.size() > 1;
  });
  for (Warning& warning : job.warnings) {
    if (warning.code != code || warning.rank == kNoRank) continue;
    std::vector<std::int32_t>& ranks = ranks_by_message[warning.message];
    std::sort(ranks.begin(), ranks.end());
    warning.message += fmt::format(" ({} {})", ranks.size() == 1 ? "rank" : "ranks", number_ranges(ranks));
    if (ranks.size() > 1) warning.rank = kNoRank;
  }
}

void merge_strings(Job& job, RankImport& import, bool first) {
  if (first) {
    job.strings = std::move(import.strings);
    return;
  }
  std::vector<std::uint32_t> ids(import.strings.size());
  for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = job.strings.intern(import.strings.view(i));
  for (Activity& activity : import.trace.activities) activity.name = ids[activity.name];
  for (HostRange& range : import.trace.host_ranges) range.name = ids[range.name];
  for (OpenOperation& operation : import.trace.ending.operations) operation.name = ids[operation.name];
  if (auto& last = import.trace.ending.last_ended; last) last->name = ids[last->name];
  for (std::uint32_t& range : import.trace.ending.ranges) range = ids[range];
}

Dumps dumps_among(const std::vector<RankImport>& imports) {
  const auto is_dump = [](const RankImport& import) { return import.is_dump; };
  if (std::none_of(imports.begin(), imports.end(), is_dump)) return Dumps::none;
  return std::all_of(imports.begin(), imports.end(), is_dump) ? Dumps::all : Dumps::some;
}

}  // namespace

Result<Job> merge_ranks(std::string path, std::vector<RankImport> imports, std::vector<Warning> warnings,
                        std::int32_t world_size) {
  Job job;
  job.path = std::move(path);
  job.warnings = std::move(warnings);
  const std::int32_t declared = keep_one_job(imports, job.warnings);
  job.world_size = declared > 0 ? declared : world_size;
  settle_ranks(job, imports);
  if (imports.empty()) {
    std::string message = fmt::format("{}: no rank could be read", job.path);
    for (const Warning& warning : job.warnings) message += fmt::format("\n  {}", warning.message);
    return Error{std::move(message)};
  }
  settle_world(job, imports);
  settle_clocks(job, imports);
  for (const RankImport& import : imports) {
    if (std::find(job.sources.begin(), job.sources.end(), import.source) == job.sources.end())
      job.sources.push_back(import.source);
  }
  std::sort(job.sources.begin(), job.sources.end());
  job.dumps = dumps_among(imports);
  const GroupMembers members(imports);
  for (RankImport& import : imports) members.settle(import);
  if (const std::string unknown = members.unknown(); !unknown.empty())
    warn(
        job, "group_members_unknown",
        fmt::format(
            "not all members of these communicators are known, because not all their ranks were recorded, or "
            "one process has several: {}",
            unknown));
  fill_members_by_holders(imports);
  std::vector<std::vector<std::uint32_t>> group_ids;
  group_ids.reserve(imports.size());
  GroupMerge groups(job, imports);
  for (const RankImport& import : imports) group_ids.push_back(groups.add(import));
  for (std::size_t i = 0; i < imports.size(); ++i) {
    RankImport& import = imports[i];
    for (Communication& communication : import.trace.communications)
      if (communication.group != kNone) communication.group = group_ids[i][communication.group];
    for (OpenOperation& operation : imports[i].trace.ending.operations)
      if (operation.group != kNone) operation.group = group_ids[i][operation.group];
    for (GroupProgress& progress : imports[i].trace.ending.progress)
      if (progress.group != kNone) progress.group = group_ids[i][progress.group];
    if (auto& last = import.trace.ending.last_ended; last && last->group != kNone)
      last->group = group_ids[i][last->group];
    merge_strings(job, import, i == 0);
    for (Warning& warning : import.warnings) {
      warning.rank = import.trace.rank;  // some were said before the rank was known
      job.warnings.push_back(std::move(warning));
    }
    job.ranks.push_back(std::move(import.trace));
  }
  name_groups(job);
  say_once(job, "profiler_overhead");
  say_once_with_ranks(job, "group_members_unknown");
  return job;
}

}  // namespace lockstep::analyzer
