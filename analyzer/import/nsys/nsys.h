// Reads the SQLite export of a Nsight Systems report (`nsys export --type sqlite`): kernels, copies, waits,
// launches and NVTX ranges of every process in it. One file may hold several ranks, one for each process and
// device that runs kernels.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "analyzer/import/rank/communication_patterns.h"
#include "analyzer/import/rank/rank_import.h"
#include "base/result.h"

namespace lockstep::analyzer::nsys {

struct Options {
  bool keep_host_ranges = false;
  const CommunicationPatterns* communication = nullptr;  // what the user says; may be null
};

// In the order of processes and devices. Ranks that the file does not name are numbered in that order, and
// marked so (RankImport::rank_is_assumed). Errors: missing, unreadable or locked file, not SQLite, SQLite
// that is no export of nsys. A file that is damaged further on gives what stands before, and a warning.
Result<std::vector<RankImport>> import_file(const std::filesystem::path& path, const Options& options = {});

}  // namespace lockstep::analyzer::nsys
