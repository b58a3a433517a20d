#include "cli/analysis/load.h"

#include <utility>

#include "analyzer/open_job.h"
#include "cli/analysis/memory_limit/memory_limit.h"
#include "cli/common/terminal.h"

namespace lockstep::cli {

Result<LoadedJob> load_job(const std::vector<std::string>& paths, const LoadOptions& options) {
  ProgressLine progress(options.progress);
  analyzer::ImportOptions reading = options.reading;
  reading.keep_host_ranges = options.keep_host_ranges;
  reading.progress = [&](std::uint64_t done, std::uint64_t total) { progress.show("reading", done, total); };
  Result<analyzer::Job> job = analyzer::open_job(paths, reading, options.clocks);
  // First: a rank that could not be kept is not a damaged one.
  if (disk_refused()) return Error{why_out_of_memory()};
  if (!job.ok()) return job.error();
  progress.show("analysing");
  Result<analyzer::Analysis> analysis = analyzer::analyze(job.value(), options.analysis);
  if (disk_refused()) return Error{why_out_of_memory()};
  if (!analysis.ok()) return analysis.error();
  return LoadedJob{std::move(job).value(), std::move(analysis).value()};
}

Result<LoadedJob> load_steady_run(const std::string& path, const ReadingArguments& reading, bool progress) {
  LoadOptions options;
  options.progress = progress;
  options.analysis.steady = true;
  options.analysis.keep_segments = false;
  if (const Status status = take_reading(reading, options.reading); !status.ok()) return status.error();
  return load_job({path}, options);
}

}  // namespace lockstep::cli
