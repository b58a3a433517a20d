// Files that do not say their rank: which of them are of one process.
#pragma once

#include <vector>

#include "analyzer/import/rank/rank_import.h"

namespace lockstep::analyzer {

// Gives the files of profilers that name no rank their `worker`: one where files are of one process, one
// after the other. A number in a file's name is no rank (and RankImport::rank_known false again) where such
// files have different numbers, or where the file is `alone`, the only one that was given, and nothing in it
// agrees. Where the profiler named all files after host and process, or processes have several files, and
// these ran at one time, the processes are numbered by host, device and name (RankImport::rank_is_assumed),
// unless their groups have other ranks than these.
void settle_workers(std::vector<RankImport>& imports, bool alone);

}  // namespace lockstep::analyzer
