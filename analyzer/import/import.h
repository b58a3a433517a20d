// Reads what a team has into a Job: a run folder of ours, or files of any kind that importers.cpp lists,
// which are told apart by content: traces, one or more ranks a file, singly or in a folder, and what is read
// beside them (NCCL's log).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "analyzer/model/job.h"
#include "base/result.h"

namespace lockstep::analyzer {

class CommunicationPatterns;  // rank/communication_patterns.h
struct RankImport;            // rank/rank_import.h

struct ImportOptions {
  // Keep every host range and launch call (the viewer, exports); otherwise only what the analysis needs:
  // steps, data loading, what takes kLongHostRange or more, and what tells of steps or phases by its name
  // (rank/kept_ranges.h).
  bool keep_host_ranges = false;
  // Called now and then with bytes done and in all; for a progress line.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  // Called as soon as a rank's file has been read, by the threads that read, several at a time: its times are
  // still those of the file, its strings and groups its own.
  std::function<void(const RankImport& rank)> rank_read;
  // Names that communicate, beyond those that are known; null: none.
  std::shared_ptr<const CommunicationPatterns> communication;
  // Of ranks with several profiles, only the N-th of each, from 1; 0: all are read as one recording.
  int cycle = 0;
  // Asked to stop, the import ends with an error within a few megabytes (of one SQLite file: at its end).
  std::stop_token stop{};
};

// An error only where nothing can be said at all; a broken rank among good ones is a warning in the Job.
Result<Job> import_job(const std::vector<std::string>& paths, const ImportOptions& options = {});

}  // namespace lockstep::analyzer
