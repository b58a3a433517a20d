#include "analyzer/open_job.h"

#include "analyzer/model/check_job.h"

namespace lockstep::analyzer {

Result<Job> open_job(const std::vector<std::string>& paths, const ImportOptions& options, Clocks clocks) {
  Result<Job> job = import_job(paths, options);
  // A job that breaks its promises is for the analysis to refuse.
  if (job.ok() && check_job(job.value()).ok()) align_clocks(job.value(), clocks);
  return job;
}

}  // namespace lockstep::analyzer
