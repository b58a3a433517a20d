#include "analyzer/open_job.h"

#include "analyzer/model/check_job.h"
#include "analyzer/model/stopped.h"
#include "analyzer/steps/find_steps.h"

namespace lockstep::analyzer {

Result<Job> open_job(const std::vector<std::string>& paths, const ImportOptions& options, Clocks clocks) {
  Result<Job> job = import_job(paths, options);
  if (!job.ok()) return job;
  try {
    find_steps(job.value(), options.stop);
    // A job that breaks its promises is for the analysis to refuse.
    if (check_job(job.value(), options.stop).ok()) align_clocks(job.value(), clocks, options.stop);
  } catch (const Stopped&) {
    return Error{"stopped before its clocks were compared"};
  }
  return job;
}

}  // namespace lockstep::analyzer
