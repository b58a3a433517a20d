#include "analyzer/import/rank/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/import/rank/group_members.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int32_t kLargestWorld = 1 << 20;

void warn(Job& job, std::string code, std::string message, std::int32_t rank = kNoRank) {
  job.warnings.push_back({std::move(code), std::move(message), rank});
}

// A file that names no rank can only be understood alone: then it is rank 0.
void settle_ranks(Job& job, std::vector<RankImport>& imports) {
  std::vector<RankImport> kept;
  std::map<std::int32_t, std::string> file_of;
  for (RankImport& import : imports) {
    RankTrace& trace = import.trace;
    if (!import.rank_known && imports.size() == 1) {
      trace.rank = 0;
      import.warn("rank_unknown",
                  fmt::format("{}: neither the file nor its name says which rank it is; taken as rank 0",
                              trace.file));
    } else if (!import.rank_known) {
      warn(job, "rank_unknown",
           fmt::format(
               "{}: neither the file nor its name says which rank it is; left out. Name it rank-<N>.json",
               trace.file));
      continue;
    }
    const auto [where, fresh] = file_of.emplace(trace.rank, trace.file);
    if (!fresh) {
      warn(job, "rank_duplicate",
           fmt::format("rank {} twice: {} is used, {} is left out", trace.rank, where->second, trace.file),
           trace.rank);
      continue;
    }
    kept.push_back(std::move(import));
  }
  imports = std::move(kept);
  std::sort(imports.begin(), imports.end(),
            [](const RankImport& a, const RankImport& b) { return a.trace.rank < b.trace.rank; });
}

std::string rank_list(const std::vector<std::int32_t>& ranks) {
  constexpr std::size_t kShown = 16;
  const std::vector<std::int32_t> shown(ranks.begin(), ranks.begin() + std::min(ranks.size(), kShown));
  return fmt::format("{}{}", fmt::join(shown, ", "), ranks.size() > kShown ? ", …" : "");
}

// Files that declare different world sizes are not of one job: the job with the most ranks is kept.
void settle_job(Job& job, std::vector<RankImport>& imports) {
  std::map<std::int32_t, std::set<std::int32_t>> ranks_of;  // declared size -> ranks
  for (const RankImport& import : imports)
    if (import.world_size > 0) ranks_of[import.world_size].insert(import.trace.rank);
  if (ranks_of.empty()) return;
  // At a tie the size that stands first.
  std::int32_t chosen = 0;
  std::size_t most = 0;
  for (const RankImport& import : imports) {
    if (import.world_size <= 0 || ranks_of[import.world_size].size() <= most) continue;
    chosen = import.world_size;
    most = ranks_of[chosen].size();
  }
  job.world_size = chosen;
  std::erase_if(imports, [&](const RankImport& import) {
    if (import.world_size <= 0 || import.world_size == chosen) return false;
    warn(job, "world_size_mismatch",
         fmt::format("{} is of a job of {} ranks, not {}: left out", import.trace.file, import.world_size,
                     chosen),
         import.rank_known ? import.trace.rank : kNoRank);
    return true;
  });
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

// False, and nothing is moved, where a time would leave ±kLatest.
bool shift(RankTrace& trace, std::int64_t by) {
  if (by == 0) return true;
  std::int64_t earliest = 0, latest = 0;
  const auto each_time = [&trace](const auto& visit) {
    for (Activity& activity : trace.activities)
      for (Nanoseconds* time : {&activity.begin, &activity.end, &activity.launch_begin, &activity.launch_end})
        if (*time != kUnknownTime) visit(*time);
    for (HostRange& range : trace.host_ranges) visit(range.begin), visit(range.end);
    for (StepMark& step : trace.steps) visit(step.begin), visit(step.end);
    for (CounterTrack& counter : trace.counters)
      for (CounterPoint& point : counter.points) visit(point.time);
  };
  each_time([&](Nanoseconds time) { earliest = std::min(earliest, time), latest = std::max(latest, time); });
  if (__builtin_add_overflow(earliest, by, &earliest) || __builtin_add_overflow(latest, by, &latest) ||
      earliest < -kLatest || latest > kLatest)
    return false;
  each_time([by](Nanoseconds& time) { time += by; });
  const auto move_within_limits = [by](Nanoseconds& time) {
    if (__builtin_add_overflow(time, by, &time)) time = by < 0 ? -kLatest : kLatest;
    time = std::clamp(time, -kLatest, kLatest);
  };
  for (std::vector<TimeSpan>* spans : {&trace.lost, &trace.unrecorded}) {
    for (TimeSpan& span : *spans) move_within_limits(span.begin), move_within_limits(span.end);
  }
  for (OpenOperation& operation : trace.ending.operations) move_within_limits(operation.begin);
  for (Nanoseconds* time : {&trace.ending.recorded_until, &trace.ending.hang_noted})
    if (*time != kUnknownTime) move_within_limits(*time);
  trace.clock.offset_ns += by;
  return true;
}

// What NTP keeps between hosts of one site, on a bad day. Nothing in the files says better.
constexpr std::int64_t kWallClockUncertaintyNs = 1'000'000;
constexpr std::size_t kMostDevicesOfAHost = 16;

// The clock that most ranks share is the job's; at a tie the first rank's.
const RankImport& reference_clock(const std::vector<RankImport>& imports) {
  std::map<std::string, std::size_t> ranks_on;
  for (const RankImport& import : imports) ++ranks_on[import.clock_name];
  return *std::max_element(imports.begin(), imports.end(), [&](const RankImport& a, const RankImport& b) {
    return ranks_on[a.clock_name] < ranks_on[b.clock_name];
  });
}

// Whether files that name no hosts are surely of several: more ranks than a host has devices, or two ranks on
// the same one of several devices. (Where all ranks see one device, a launcher shows each its own as number
// 0.)
bool are_of_several_hosts(const std::vector<RankImport>& imports) {
  if (imports.size() > kMostDevicesOfAHost) return true;
  std::set<std::string> devices;
  for (const RankImport& import : imports) {
    if (!import.trace.device.starts_with("cuda:")) return false;
    devices.insert(import.trace.device);
  }
  return devices.size() > 1 && devices.size() < imports.size();
}

void settle_clocks(Job& job, std::vector<RankImport>& imports) {
  const RankImport& reference = reference_clock(imports);
  job.realtime_of_zero = reference.realtime_of_zero;
  std::vector<std::int32_t> unrelated, by_wall_clock;
  for (RankImport& import : imports) {
    const bool same_clock = import.clock_name == reference.clock_name;
    const bool both_known = reference.realtime_of_zero && import.realtime_of_zero;
    std::int64_t by = 0;
    const bool related = same_clock ? !__builtin_sub_overflow(import.clock_zero, reference.clock_zero, &by)
                                    : both_known && !__builtin_sub_overflow(*import.realtime_of_zero,
                                                                            *reference.realtime_of_zero, &by);
    if (!related || !shift(import.trace, by)) {
      unrelated.push_back(import.trace.rank);
      import.trace.clock.related = false;
      import.trace.clock.evidence = "none";
    } else if (!same_clock) {
      by_wall_clock.push_back(import.trace.rank);
      import.trace.clock.evidence = "wall clock";
      import.trace.clock.uncertainty_ns = kWallClockUncertaintyNs;
    }
  }
  const bool hosts_known = std::any_of(imports.begin(), imports.end(),
                                       [](const RankImport& import) { return !import.trace.host.empty(); });
  if (!hosts_known && are_of_several_hosts(imports))
    warn(job, "clocks_assumed",
         fmt::format("the files of {} ranks name no hosts: their clocks are taken to be one, although they "
                     "are surely several; "
                     "waits between hosts are as good as the hosts' clock synchronisation",
                     imports.size()));
  if (!by_wall_clock.empty())
    warn(job, "clocks_by_wall_clock",
         fmt::format("ranks on other hosts than rank {}'s ({}) are related by the hosts' wall clocks alone, "
                     "taken to agree "
                     "within 1 ms: waits between hosts are as good as that",
                     reference.trace.rank, rank_list(by_wall_clock)));
  if (!unrelated.empty())
    warn(job, "clocks_unrelated",
         fmt::format(
             "the clock of rank {} can't be related to that of rank {}: times between them mean nothing",
             rank_list(unrelated), reference.trace.rank));
}

// Long lists of ranks are cut in some files: a group known by name alone is the one fully known group of that
// name that holds the rank, if there is exactly one.
std::vector<std::uint32_t> merge_groups(Job& job, const std::vector<RankImport>& imports,
                                        const RankImport& import) {
  std::vector<std::uint32_t> ids;
  for (JobGroup group : import.groups) {
    if (group.ranks.empty() && !group.name.empty()) {
      std::set<std::vector<std::int32_t>> candidates;
      for (const RankImport& other : imports)
        for (const JobGroup& known : other.groups)
          if (known.name == group.name && known.description == group.description &&
              std::binary_search(known.ranks.begin(), known.ranks.end(), import.trace.rank))
            candidates.insert(known.ranks);
      if (candidates.size() == 1) group.ranks = *candidates.begin();
    }
    const auto found = std::find_if(job.groups.begin(), job.groups.end(), [&](const JobGroup& known) {
      return known.name == group.name && known.description == group.description && known.ranks == group.ranks;
    });
    ids.push_back(static_cast<std::uint32_t>(found - job.groups.begin()));
    if (found == job.groups.end()) job.groups.push_back(std::move(group));
  }
  return ids;
}

// Groups whose members no file names have those that tell of it.
void fill_members_by_holders(std::vector<RankImport>& imports) {
  std::map<std::pair<std::string, std::string>, std::set<std::int32_t>> holders;
  for (const RankImport& import : imports) {
    if (!import.groups_are_its_own) continue;
    for (const JobGroup& group : import.groups)
      holders[{group.name, group.description}].insert(import.trace.rank);
  }
  for (RankImport& import : imports) {
    if (!import.groups_are_its_own) continue;
    for (JobGroup& group : import.groups) {
      if (!group.ranks.empty()) continue;
      const std::set<std::int32_t>& ranks = holders[{group.name, group.description}];
      group.ranks.assign(ranks.begin(), ranks.end());
    }
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
  for (std::uint32_t& range : import.trace.ending.ranges) range = ids[range];
}

}  // namespace

Result<Job> merge_ranks(std::string path, std::vector<RankImport> imports, std::vector<Warning> warnings,
                        std::int32_t world_size) {
  Job job;
  job.path = std::move(path);
  job.warnings = std::move(warnings);
  job.world_size = world_size;
  settle_job(job, imports);
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
  for (const RankImport& import : imports) group_ids.push_back(merge_groups(job, imports, import));
  for (std::size_t i = 0; i < imports.size(); ++i) {
    RankImport& import = imports[i];
    for (Communication& communication : import.trace.communications)
      if (communication.group != kNone) communication.group = group_ids[i][communication.group];
    for (OpenOperation& operation : imports[i].trace.ending.operations)
      if (operation.group != kNone) operation.group = group_ids[i][operation.group];
    for (GroupProgress& progress : imports[i].trace.ending.progress)
      if (progress.group != kNone) progress.group = group_ids[i][progress.group];
    merge_strings(job, import, i == 0);
    for (Warning& warning : import.warnings) {
      warning.rank = import.trace.rank;  // some were said before the rank was known
      job.warnings.push_back(std::move(warning));
    }
    job.ranks.push_back(std::move(import.trace));
  }
  return job;
}

}  // namespace lockstep::analyzer
