// From what was typed to the files to read: folders searched, kinds told by content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/import/rank/importer.h"
#include "analyzer/import/run/run.h"
#include "analyzer/model/job.h"
#include "base/result.h"

namespace lockstep::analyzer {

struct InputFile {
  std::filesystem::path path;
  const Importer* importer = nullptr;  // never null
  std::uint64_t size = 0;              // bytes on disk
};

struct InputFiles {
  std::vector<InputFile> files;       // of ranks, each once, in the order typed, within a folder by name
  std::vector<InputFile> beside;      // of no rank (NCCL's logs), in the same order
  std::int32_t world_size = 0;        // as a run's manifest says; 0: nothing says it
  std::vector<run::ClockLog> clocks;  // what recorders heard of each other's
  JobStart start;                     // of the first run
  JobEnd end;                         // of the run that failed, if one did
  std::vector<Warning> warnings;
};

// The rank whose trace file of ours this is, by its name alone, for one that can't be read; kNoRank: of none.
std::int32_t rank_of_trace_file(const std::filesystem::path& file);

// Errors: a path that does not exist or is neither file nor folder, a file of an unknown kind, a folder
// without traces, nothing but files of no rank.
Result<InputFiles> find_input_files(const std::vector<std::string>& paths);

}  // namespace lockstep::analyzer
