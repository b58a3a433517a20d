// What one file says of one rank, before the ranks meet: importers fill it, `finish` puts it in order,
// `merge_ranks` (merge.h) makes the Job. Each file has string and group tables of its own, so that files can
// be read in parallel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct RankImport {
  RankTrace trace;
  bool rank_known = false;  // `trace.rank` was in the file or in its name
  StringTable strings;
  std::vector<JobGroup> groups;
  std::vector<Warning> warnings;
  std::string source;           // "kineto", "lockstep"
  std::int32_t world_size = 0;  // as the file declares it; 0: it does not
  // The clock of the times: files with the same name share it. Its zero is `realtime_of_zero` ns since 1970.
  std::string clock_name;
  std::optional<std::int64_t> realtime_of_zero;

  std::uint32_t intern_group(const JobGroup& group);
  void warn(std::string code, std::string message);
};

// Sorts activities and host ranges, computes nesting depths, gives each activity its step, puts
// communications into the order of their activities, drops steps that overlap an earlier one, and marks the
// lanes that mostly communicate. Activities may come in any order; `Activity::communication` must be
// consistent.
void finish(RankImport& rank);

// "1 event was", "3 events were": counts in messages.
std::string counted(std::uint64_t count, const char* one, const char* many);

}  // namespace lockstep::analyzer
