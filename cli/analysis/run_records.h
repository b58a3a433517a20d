// From paths on the command line to what a gate judges.
#pragma once

#include <string>
#include <vector>

#include "analyzer/gate/policy.h"
#include "analyzer/gate/run_record.h"
#include "base/result.h"
#include "cli/analysis/reading.h"

namespace lockstep::cli {

// Each path is one run: a folder, or a trace of one process. Errors name the path.
Result<std::vector<analyzer::RunRecord>> read_runs(const std::vector<std::string>& paths,
                                                   const ReadingArguments& reading, bool progress);
// The same, and files of baselines, whose runs are taken.
Result<std::vector<analyzer::RunRecord>> read_baselines(const std::vector<std::string>& paths,
                                                        const ReadingArguments& reading, bool progress);

// The policy in a file that --policy names; of "" the default one.
Result<analyzer::Policy> read_policy(const std::string& path);

// The day in UTC: "2026-11-27".
std::string today();
// "2026-11-28T01:21:54Z".
std::string now_in_utc();

}  // namespace lockstep::cli
