// Reads one file of Kineto JSON (torch.profiler's export_chrome_trace), plain or gzip, of any size, in
// bounded memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "analyzer/import/rank/communication_patterns.h"
#include "analyzer/import/rank/rank_import.h"
#include "base/result.h"

namespace lockstep::analyzer::kineto {

struct Options {
  bool keep_host_ranges = false;
  const CommunicationPatterns* communication = nullptr;  // what the user says; may be null
  // Called now and then with the bytes of the file (as it is on disk) that were read since the last call.
  std::function<void(std::uint64_t bytes)> progress;
};

// Errors: missing or unreadable file, empty, not JSON, no traceEvents. A file that is cut or damaged further
// on gives what stands before, and a warning.
Result<RankImport> import_file(const std::filesystem::path& path, const Options& options = {});

}  // namespace lockstep::analyzer::kineto
