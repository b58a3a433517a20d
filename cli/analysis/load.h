// From paths on the command line to an analysed job, with a progress line on a terminal.
#pragma once

#include <string>
#include <vector>

#include "analyzer/align/align.h"
#include "analyzer/analysis.h"
#include "analyzer/import/import.h"
#include "analyzer/model/job.h"
#include "base/result.h"
#include "cli/analysis/reading.h"

namespace lockstep::cli {

struct LoadedJob {
  analyzer::Job job;
  analyzer::Analysis analysis;
};

struct LoadOptions {
  analyzer::AnalysisOptions analysis;
  analyzer::Clocks clocks = analyzer::Clocks::automatic;
  analyzer::ImportOptions reading{};  // progress is set here
  bool keep_host_ranges = false;
  bool progress = true;
};

Result<LoadedJob> load_job(const std::vector<std::string>& paths, const LoadOptions& options);

// One run over its steady steps, for verbs that compare runs: a folder, or a trace of one process. With
// `progress`, files of it that could not be read are told of on stderr.
Result<LoadedJob> load_steady_run(const std::string& path, const ReadingArguments& reading, bool progress);

}  // namespace lockstep::cli
