#include "cli/analysis/load.h"

#include <fmt/format.h>

#include <utility>

#include "analyzer/open_job.h"
#include "base/standard_streams.h"
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
  Result<LoadedJob> loaded = load_job({path}, options);
  // A comparison has no list of warnings. A rank that is not there, or what a manifest says that was changed,
  // may be all by which two runs differ.
  if (loaded.ok() && progress)
    for (const analyzer::Warning& warning : loaded.value().analysis.report.warnings)
      if (warning.code == "file_unreadable" || warning.code == "manifest_damaged")
        tell(fmt::format("lockstep: warning: {}\n", warning.message));
  return loaded;
}

}  // namespace lockstep::cli
