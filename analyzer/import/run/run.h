// Reads what `lockstep record` wrote: a run folder, or single .lst files of one (docs/trace-format.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/rank/communication_patterns.h"
#include "analyzer/import/rank/rank_import.h"
#include "base/result.h"

namespace lockstep::analyzer::run {

struct Options {
  bool keep_host_ranges = false;
  const CommunicationPatterns* communication = nullptr;  // what the user says; may be null
  std::int64_t interrupted_at = 0;  // when the job was interrupted, ns since 1970; 0: it was not
};

// One trace file. Errors: missing, unreadable, not one of ours, of a newer version. What is damaged or cut
// costs what was in it, and a warning.
Result<RankImport> import_file(const std::filesystem::path& path, const Options& options = {});

// What one recorder heard of another host's clock.
struct ClockLog {
  std::string clock;  // RankImport::clock_name
  std::string peer;
  std::vector<ClockExchange> exchanges;  // of `clock` (here) with `peer` (there); their domains are not set
};

// clock-<host>-<process>.json. The error names the file and what is wrong with it.
Result<ClockLog> read_clock_log(const std::filesystem::path& path);

// What a run folder holds besides the events.
struct Folder {
  std::vector<std::filesystem::path> rank_files;  // rank-<N>.lst, by rank
  std::vector<std::filesystem::path> process_files;
  std::int32_t world_size = 0;  // as the manifest says; 0: it does not
  JobStart start;
  JobEnd end;  // interrupted: the first of its recorders
  std::vector<ClockLog> clocks;
  std::vector<Warning> warnings;
};

// Adds to a rank what it was doing when it was found to hang, as the recorder wrote it beside the rank's
// trace file (hang-rank-N.json), where there is such a file; a warning where it can't be read.
void read_doing(const std::filesystem::path& trace_file, RankImport& import);

// Whether a folder looks like a run: it holds a manifest.json of ours or .lst files.
bool is_run_folder(const std::filesystem::path& folder);

// Of what the recorder writes beside the traces: the manifests, comparisons of clocks, where a rank hung.
bool is_side_file_name(std::string_view file_name);

// Errors: the folder can't be read, or no process in it was a rank.
Result<Folder> open_folder(const std::filesystem::path& folder);

}  // namespace lockstep::analyzer::run
