// From what each file says to one Job: each rank once, one string table, one set of groups, one clock.
#pragma once

#include <string>
#include <vector>

#include "analyzer/import/rank/rank_import.h"
#include "analyzer/model/job.h"
#include "base/result.h"

namespace lockstep::analyzer {

// `warnings` are those found before (files that could not be read); `world_size` is what stands outside of
// the ranks' files, used where these do not say it; 0 if nothing does. The imports are used up. An error
// where no rank is left. Warns of: the same rank twice (the first is kept), a file without a rank, a file of
// another job (one_job.h), clocks that can't be related. What the Job as a whole
// lacks (ranks, steps, communication) is for the analysis to say.
Result<Job> merge_ranks(std::string path, std::vector<RankImport> imports, std::vector<Warning> warnings,
                        std::int32_t world_size);

}  // namespace lockstep::analyzer
