// From files to a Job on one clock: what everything that shows or analyses a job begins with.
#pragma once

#include <string>
#include <vector>

#include "analyzer/align/align.h"
#include "analyzer/import/import.h"
#include "analyzer/model/job.h"
#include "base/result.h"

namespace lockstep::analyzer {

// import_job(), find_steps(), then align_clocks(). Errors: import_job()'s. Options' stop counts for both.
Result<Job> open_job(const std::vector<std::string>& paths, const ImportOptions& options = {},
                     Clocks clocks = Clocks::automatic);

}  // namespace lockstep::analyzer
