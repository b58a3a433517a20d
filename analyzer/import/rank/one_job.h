// Files that were given together may be of several jobs: which of them are analyzed.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/import/rank/rank_import.h"

namespace lockstep::analyzer {

// Leaves the imports of one job, the one with the most ranks, and warns of each file that is left out: files
// that declare another world size; files that number their ranks beside such that do not
// (RankImport::rank_is_assumed), as nothing tells whether rank 3 of the one is in the other; files of another
// kind, or reports without numbers, recorded at another time by their wall clocks; dumps of another incident;
// files of Lockstep that were recorded on the same host at another time; copies of such reports.
// Then numbers the ranks that no file names. Returns the world size that the files left declare; 0: none
// does.
std::int32_t keep_one_job(std::vector<RankImport>& imports, std::vector<Warning>& warnings);

}  // namespace lockstep::analyzer
