#include "cli/load.h"

#include <utility>

#include "analyzer/open_job.h"
#include "cli/memory_limit/memory_limit.h"
#include "cli/terminal.h"

namespace lockstep::cli {
namespace {

// Memory that could not be had may have been the disk's.
Error with_reason(const Error& error) {
  if (!disk_refused()) return error;
  return Error{error.message + ": " + why_out_of_memory()};
}

}  // namespace

Result<LoadedJob> load_job(const std::vector<std::string>& paths, const LoadOptions& options) {
  ProgressLine progress(options.progress);
  analyzer::ImportOptions reading = options.reading;
  reading.keep_host_ranges = options.keep_host_ranges;
  reading.progress = [&](std::uint64_t done, std::uint64_t total) { progress.show("reading", done, total); };
  Result<analyzer::Job> job = analyzer::open_job(paths, reading, options.clocks);
  if (!job.ok()) return with_reason(job.error());
  // A rank that could not be kept is not a damaged one.
  if (disk_refused()) return Error{why_out_of_memory()};
  progress.show("analysing");
  Result<analyzer::Analysis> analysis = analyzer::analyze(job.value(), options.analysis);
  if (!analysis.ok()) return with_reason(analysis.error());
  if (disk_refused()) return Error{why_out_of_memory()};
  return LoadedJob{std::move(job).value(), std::move(analysis).value()};
}

}  // namespace lockstep::cli
