// What one file says of one rank, before the ranks meet: importers fill it, `finish` puts it in order,
// `merge_ranks` (merge.h) makes the Job. Each file has string and group tables of its own, so that files can
// be read in parallel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "analyzer/model/job.h"
#include "base/result.h"

namespace lockstep::analyzer {

// Times lie within ±kLatest, so that differences fit into 64 bits; importers drop what does not.
inline constexpr Nanoseconds kLatest = (Nanoseconds{1} << 62) - 1;

struct RankImport {
  RankTrace trace;
  bool rank_known = false;  // `trace.rank` was in the file or in its name
  // Where it is not known, or guessed: which ranks the file may be of, by what it holds. Sorted; empty: any.
  std::vector<std::int32_t> possible_ranks;
  // `trace.rank` is a number in the file's name that nothing says is a rank: it may be a step's. Where the
  // rank is not known then, it was not taken for one (workers.h).
  bool rank_is_guessed = false;
  // Where the rank is not known: files of one process have the same number, others another; -1: not known.
  std::int32_t worker = -1;
  // The file holds several ranks and names none: `trace.rank` counts those of this file. Of several such
  // files the later go on counting.
  bool rank_is_assumed = false;
  StringTable strings;
  std::vector<JobGroup> groups;
  std::vector<Warning> warnings;
  std::string source;           // "kineto", "lockstep"
  bool is_dump = false;         // of a flight recorder (Dumps)
  bool may_be_a_cycle = false;  // several such files of one rank are a profile's cycles (cycles.h)
  std::int64_t process = 0;     // of the operating system; 0: not known
  std::int32_t world_size = 0;  // as the file declares it; 0: it does not
  // The rank is a member of all its groups: where a file names no members, those are who tell of the group.
  bool groups_are_its_own = false;
  // The clock that the times were read from, and the reading of it that they count from: files that name the
  // same clock are related exactly. `realtime_of_zero` (time 0 in ns since 1970) relates different clocks, as
  // well as their hosts' wall clocks agree. A file that names none says "unknown".
  std::string clock_name;
  std::int64_t clock_zero = 0;
  std::optional<std::int64_t> realtime_of_zero;

  std::uint32_t intern_group(const JobGroup& group);
  void warn(std::string code, std::string message);
};

// What a file of one rank holds, as of files that may hold several.
Result<std::vector<RankImport>> of_one_rank(Result<RankImport> rank);

static_assert(std::is_nothrow_move_constructible_v<RankImport> &&
              std::is_nothrow_move_assignable_v<RankImport>);

// Sorts activities and host ranges, computes nesting depths, gives each activity its step, puts
// communications into the order of their activities, drops steps that overlap an earlier one, and marks the
// lanes that mostly communicate. Activities may come in any order; `Activity::communication` must be
// consistent.
void finish(RankImport& rank);

}  // namespace lockstep::analyzer
