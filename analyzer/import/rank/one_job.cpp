#include "analyzer/import/rank/one_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
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

// What was surely recorded together: files of one kind whose ranks' own numbers and groups tell more than a
// clock, which may be set wrong; one file whose ranks have no numbers.
std::string recording_of(const RankImport& import) {
  return import.rank_is_assumed ? file_name(import) : fmt::format("the files of kind \"{}\"", import.source);
}

struct Recording {
  std::set<std::int32_t> ranks;
  std::vector<std::int64_t> times;

  std::optional<std::int64_t> median() {
    if (times.empty()) return std::nullopt;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }
};

void keep_recordings_of_one_time(std::vector<RankImport>& imports, std::vector<Warning>& warnings) {
  std::map<std::string, Recording> recordings;
  for (const RankImport& import : imports) {
    Recording& recording = recordings[recording_of(import)];
    recording.ranks.insert(import.trace.rank);
    if (const auto time = recorded_at(import)) recording.times.push_back(*time);
  }
  if (recordings.size() < 2) return;
  std::string kept = recording_of(imports.front());
  for (const RankImport& import : imports) {
    const std::string recording = recording_of(import);
    if (recordings[recording].ranks.size() > recordings[kept].ranks.size()) kept = recording;
  }
  const std::optional<std::int64_t> time = recordings[kept].median();
  if (!time) return;
  std::set<std::string> said;
  std::erase_if(imports, [&](const RankImport& import) {
    const std::optional<std::int64_t> other = recordings[recording_of(import)].median();
    std::int64_t apart = 0;
    if (!other) return false;
    if (__builtin_sub_overflow(*other, *time, &apart)) apart = *other < *time ? -INT64_MAX : INT64_MAX;
    if (apart >= -kAnotherTimeNs && apart <= kAnotherTimeNs) return false;
    if (said.insert(import.trace.file).second)
      warnings.push_back(
          {"another_job",
           fmt::format(
               "{} was recorded {:.0f} days {} {}, by their wall clocks: left out, as it is of another "
               "job; analyze it alone",
               import.trace.file, std::abs(static_cast<double>(apart)) / static_cast<double>(kAnotherTimeNs),
               apart < 0 ? "before" : "after", kept),
           kNoRank});
    return true;
  });
}

// What a file holds, in ns since 1970: of a flight recorder's dump from the first call to the last one.
struct RecordedSpan {
  std::int64_t first = 0, last = 0;
  std::size_t import = 0;  // index
};

std::optional<RecordedSpan> span_of_dump(const RankImport& import, std::size_t index) {
  if (!import.is_dump || !import.realtime_of_zero) return std::nullopt;
  // Times count from the first call that the dump holds.
  TimeSpan span;
  const auto take = [&span](Nanoseconds time) {
    if (time != kUnknownTime) span = {std::min(span.begin, time), std::max(span.end, time)};
  };
  for (const OpenOperation& open : import.trace.ending.operations) take(open.begin);
  for (const Activity& activity : import.trace.activities) take(activity.launch_begin);
  RecordedSpan found{0, 0, index};
  if (__builtin_add_overflow(*import.realtime_of_zero, span.begin, &found.first) ||
      __builtin_add_overflow(*import.realtime_of_zero, span.end, &found.last))
    return std::nullopt;
  return found;
}

// Of spans with more than `apart` between them the largest group stays, at a tie the earliest. `say`: the
// warning of a file, and how long before or behind those that stay it begins ("83 s before").
template <class Say>
void keep_spans_of_one_time(std::vector<RecordedSpan> spans, std::int64_t apart,
                            std::vector<RankImport>& imports, std::vector<Warning>& warnings, Say say) {
  std::sort(spans.begin(), spans.end(),
            [](const RecordedSpan& a, const RecordedSpan& b) { return a.first < b.first; });
  std::vector<std::vector<RecordedSpan>> groups;
  std::int64_t last = 0;
  for (const RecordedSpan& span : spans) {
    if (groups.empty() || span.first / 2 - last / 2 > apart / 2) groups.emplace_back();
    last = groups.back().empty() ? span.last : std::max(last, span.last);
    groups.back().push_back(span);
  }
  if (groups.size() < 2) return;
  const auto kept = std::max_element(groups.begin(), groups.end(),
                                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::set<std::size_t> left_out;
  for (const std::vector<RecordedSpan>& group : groups) {
    if (&group == &*kept) continue;
    for (const RecordedSpan& span : group) {
      left_out.insert(span.import);
      const RankImport& import = imports[span.import];
      const double seconds =
          (static_cast<double>(span.first) - static_cast<double>(kept->front().first)) / 1e9;
      warnings.push_back({"another_job",
                          say(import.trace.file, fmt::format("{:.0f} s {}", std::abs(seconds),
                                                             seconds < 0 ? "before" : "after")),
                          import.rank_known ? import.trace.rank : kNoRank});
    }
  }
  std::vector<RankImport> rest;
  for (std::size_t i = 0; i < imports.size(); ++i)
    if (!left_out.contains(i)) rest.push_back(std::move(imports[i]));
  imports = std::move(rest);
}

// Dumps that an earlier incident left in the folder: of ranks of one job the calls overlap in time, or
// nearly.
void keep_dumps_of_one_incident(std::vector<RankImport>& imports, std::vector<Warning>& warnings) {
  constexpr std::int64_t kApart = 60'000'000'000;
  std::vector<RecordedSpan> spans;
  for (std::size_t i = 0; i < imports.size(); ++i)
    if (const auto span = span_of_dump(imports[i], i)) spans.push_back(*span);
  keep_spans_of_one_time(std::move(spans), kApart, imports, warnings,
                         [](const std::string& file, const std::string& when) {
                           return fmt::format(
                               "{} was written {} the other dumps: left out, as it is of another incident; "
                               "analyze it with those of its own time",
                               file, when);
                         });
}

// What a file that Lockstep wrote holds of training, in ns since 1970. Nothing of one that is damaged: it
// lacks parts.
std::optional<RecordedSpan> span_of_run(const RankImport& import, std::size_t index) {
  const RankTrace& trace = import.trace;
  if (!import.realtime_of_zero || !trace.lost.empty()) return std::nullopt;
  std::optional<TimeSpan> span;
  const auto take = [&span](Nanoseconds begin, Nanoseconds end) {
    span = span ? TimeSpan{std::min(span->begin, begin), std::max(span->end, end)} : TimeSpan{begin, end};
  };
  for (const StepMark& step : trace.steps) take(step.begin, step.end);
  for (const Activity& activity : trace.activities) take(activity.begin, activity.end);
  for (const OpenOperation& open : trace.ending.operations) take(open.begin, open.begin);
  RecordedSpan found{0, 0, index};
  if (!span || __builtin_add_overflow(*import.realtime_of_zero, span->begin, &found.first) ||
      __builtin_add_overflow(*import.realtime_of_zero, span->end, &found.last))
    return std::nullopt;
  return found;
}

// Runs that were given together, or files of two runs in one folder: ranks of one job train at the same time.
// By the clock of one host alone: hosts' clocks may be days apart.
void keep_one_run_of_a_host(std::vector<RankImport>& imports, std::vector<Warning>& warnings) {
  constexpr std::int64_t kApart = 10'000'000'000;
  std::vector<RecordedSpan> spans;
  std::set<std::string> hosts;
  for (std::size_t i = 0; i < imports.size(); ++i) {
    if (imports[i].source != "lockstep") continue;
    hosts.insert(imports[i].trace.host);
    if (const auto span = span_of_run(imports[i], i)) spans.push_back(*span);
  }
  if (hosts.size() != 1 || hosts.contains("")) return;
  keep_spans_of_one_time(
      std::move(spans), kApart, imports, warnings, [](const std::string& file, const std::string& when) {
        return fmt::format(
            "{} was recorded {} the files that are used, on the same host: left out, as it is of "
            "another job; analyze each job alone",
            file, when);
      });
}

// A copy of a report would be twice as many ranks: the same device of the same host with the same work at the
// same times.
void leave_out_copies(std::vector<RankImport>& imports, std::vector<Warning>& warnings) {
  using Work = std::tuple<std::string, std::string, std::optional<std::int64_t>, std::size_t, Nanoseconds,
                          Nanoseconds>;
  std::map<Work, std::string> file_of;
  std::set<std::string> said;
  std::erase_if(imports, [&](const RankImport& import) {
    const RankTrace& trace = import.trace;
    if (!import.rank_is_assumed || trace.activities.empty()) return false;
    const auto [original, fresh] =
        file_of.try_emplace(Work(trace.host, trace.device, import.realtime_of_zero, trace.activities.size(),
                                 trace.activities.front().begin, trace.activities.back().end),
                            trace.file);
    if (fresh || original->second == trace.file) return false;
    if (said.insert(trace.file).second)
      warnings.push_back(
          {"rank_duplicate",
           fmt::format("{} holds what {} holds: it is a copy, and left out", trace.file, original->second),
           kNoRank});
    return true;
  });
}

// Those of later files count on from those before. Workers have their numbers: some may be left out by now.
void number_assumed_ranks(std::vector<RankImport>& imports, std::vector<Warning>& warnings) {
  constexpr std::size_t kSaid = 16;
  std::vector<std::string> said;
  std::int32_t next = 0;
  for (RankImport& import : imports) {
    if (!import.rank_is_assumed) continue;
    import.trace.rank = import.worker >= 0 ? import.worker : next;
    ++next;
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
  keep_recordings_of_one_time(imports, warnings);
  keep_dumps_of_one_incident(imports, warnings);
  keep_one_run_of_a_host(imports, warnings);
  leave_out_copies(imports, warnings);
  number_assumed_ranks(imports, warnings);
  for (const RankImport& import : imports)
    if (import.world_size > 0) return import.world_size;
  return 0;
}

}  // namespace lockstep::analyzer
