#include "analyzer/import/rank/one_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace lockstep::analyzer {
namespace {

// Recordings that far apart share no operation, even where a wall clock is set to another time zone.
constexpr std::int64_t kAnotherTimeNs = 24 * std::int64_t{3'600'000'000'000};

std::string file_name(const RankImport& import) {
  return std::filesystem::path(import.trace.file).filename().string();
}

// At a tie the size that stands first.
void keep_one_world_size(std::vector<RankImport>& imports, std::vector<Warning>& warnings) {
  std::map<std::int32_t, std::set<std::int32_t>> ranks_of;  // declared size -> ranks
  for (const RankImport& import : imports)
    if (import.world_size > 0) ranks_of[import.world_size].insert(import.trace.rank);
  if (ranks_of.size() < 2) return;
  std::int32_t chosen = 0;
  std::size_t most = 0;
  for (const RankImport& import : imports) {
    if (import.world_size <= 0 || ranks_of[import.world_size].size() <= most) continue;
    chosen = import.world_size;
    most = ranks_of[chosen].size();
  }
  std::erase_if(imports, [&](const RankImport& import) {
    if (import.world_size <= 0 || import.world_size == chosen) return false;
    warnings.push_back({"world_size_mismatch",
                        fmt::format("{} is of a job of {} ranks, not {}: left out", import.trace.file,
                                    import.world_size, chosen),
                        import.rank_known ? import.trace.rank : kNoRank});
    return true;
  });
}

// At a tie the files that number their ranks.
void keep_numbered_or_assumed(std::vector<RankImport>& imports, std::vector<Warning>& warnings) {
  std::set<std::int32_t> numbered;
  std::map<std::string, std::size_t> assumed;  // file -> its ranks
  std::size_t all_assumed = 0;
  for (const RankImport& import : imports) {
    if (import.rank_is_assumed) {
      ++assumed[import.trace.file];
      ++all_assumed;
    } else if (import.rank_known) {
      numbered.insert(import.trace.rank);
    }
  }
  if (assumed.empty() || numbered.empty()) return;
  const bool keep_assumed = all_assumed > numbered.size();
  std::erase_if(imports, [&](const RankImport& import) {
    if (!import.rank_known || import.rank_is_assumed == keep_assumed) return false;
    if (keep_assumed)
      warnings.push_back(
          {"another_job",
           fmt::format("{} is rank {}, and {} does not say which ranks it holds: {} is left out, as nothing "
                       "tells that they are of one job; analyze it alone",
                       import.trace.file, import.trace.rank,
                       std::filesystem::path(assumed.begin()->first).filename().string(), file_name(import)),
           kNoRank});
    return true;
  });
  if (keep_assumed) return;
  for (const auto& [file, ranks] : assumed)
    warnings.push_back(
        {"another_job",
         fmt::format("{} does not say which {} it holds, and the other files are numbered: left out, as "
                     "nothing tells that they are of one job. Analyze it alone; reports of one rank each may "
                     "be named rank-<N>.sqlite",
                     file, ranks == 1 ? "rank" : "ranks"),
         kNoRank});
}

// When it began, in ns since 1970 by its own wall clock.
std::optional<std::int64_t> recorded_at(const RankImport& import) {
  const RankTrace& trace = import.trace;
  if (!import.realtime_of_zero) return std::nullopt;
  std::optional<Nanoseconds> first;
  const auto take = [&](Nanoseconds time) { first = first ? std::min(*first, time) : time; };
  if (!trace.activities.empty()) take(trace.activities.front().begin);
  if (!trace.steps.empty()) take(trace.steps.front().begin);
  if (!trace.ending.operations.empty()) take(trace.ending.operations.front().begin);
  std::int64_t time = 0;
  if (!first || __builtin_add_overflow(*import.realtime_of_zero, *first, &time)) return std::nullopt;
  return time;
}

// Within a kind the ranks' own numbers and groups tell more than a clock, which may be set wrong.
void keep_kinds_of_one_time(std::vector<RankImport>& imports, std::vector<Warning>& warnings) {
  struct Kind {
    std::set<std::int32_t> ranks;
    std::vector<std::int64_t> times;
    std::optional<std::int64_t> median;
  };
  std::map<std::string, Kind> kinds;
  for (const RankImport& import : imports) {
    Kind& kind = kinds[import.source];
    kind.ranks.insert(import.trace.rank);
    if (const auto time = recorded_at(import)) kind.times.push_back(*time);
  }
  if (kinds.size() < 2) return;
  for (auto& [source, kind] : kinds) {
    if (kind.times.empty()) continue;
    const auto middle = kind.times.begin() + static_cast<std::ptrdiff_t>(kind.times.size() / 2);
    std::nth_element(kind.times.begin(), middle, kind.times.end());
    kind.median = *middle;
  }
  const std::string* most = &imports.front().source;
  for (const RankImport& import : imports)
    if (kinds[import.source].ranks.size() > kinds[*most].ranks.size()) most = &import.source;
  const std::string kept = *most;
  const std::optional<std::int64_t> time = kinds[kept].median;
  if (!time) return;
  std::set<std::string> said;
  std::erase_if(imports, [&](const RankImport& import) {
    const std::optional<std::int64_t> other = kinds[import.source].median;
    std::int64_t apart = 0;
    if (!other) return false;
    if (__builtin_sub_overflow(*other, *time, &apart)) apart = INT64_MAX;
    if (apart >= -kAnotherTimeNs && apart <= kAnotherTimeNs) return false;
    if (said.insert(import.trace.file).second)
      warnings.push_back(
          {"another_job",
           fmt::format("{} was recorded {:.0f} days {} the files of kind \"{}\", by their wall clocks: left "
                       "out, as it is of another job; analyze it alone",
                       import.trace.file,
                       static_cast<double>(apart < 0 ? -apart : apart) / static_cast<double>(kAnotherTimeNs),
                       apart < 0 ? "before" : "after", kept),
           kNoRank});
    return true;
  });
}

// Those of later files count on from those before.
void number_assumed_ranks(std::vector<RankImport>& imports, std::vector<Warning>& warnings) {
  constexpr std::size_t kSaid = 16;
  std::vector<std::string> said;
  std::int32_t next = 0;
  for (RankImport& import : imports) {
    if (!import.rank_is_assumed) continue;
    import.trace.rank = next++;
    if (said.size() < kSaid)
      said.push_back(
          fmt::format("{} of {} is rank {}", import.trace.device, file_name(import), import.trace.rank));
  }
  if (next > 0)
    warnings.push_back({"ranks_assumed",
                        fmt::format("no file says which rank is which: they are numbered by process and "
                                    "device ({}{})",
                                    fmt::join(said, ", "), next > static_cast<int>(kSaid) ? ", …" : ""),
                        kNoRank});
}

}  // namespace

std::int32_t keep_one_job(std::vector<RankImport>& imports, std::vector<Warning>& warnings) {
  keep_one_world_size(imports, warnings);
  keep_numbered_or_assumed(imports, warnings);
  keep_kinds_of_one_time(imports, warnings);
  number_assumed_ranks(imports, warnings);
  for (const RankImport& import : imports)
    if (import.world_size > 0) return import.world_size;
  return 0;
}

}  // namespace lockstep::analyzer
