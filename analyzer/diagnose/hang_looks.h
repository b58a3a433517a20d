// Where a rank that hung was last seen, by looks at its Python (`record --stacks`, on unless turned off).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer::hang {

// "was last seen in `train (job.py:63)`, 246 looks in a row over 12.6 s": of looks since its last operation
// ended, or began where it is still open, until its recording ended or the job was interrupted. Where most of
// them saw other places than the last one did, the most frequent is named, and how often. Empty where nobody
// looked, or where the rank's stack was written down, which tells more. O(host ranges).
std::string where_last_seen(const Job& job, const RankTrace& rank);

// Anybody looked at one of them so; at any rank of the job where `ranks` is empty.
bool is_any_last_seen(const Job& job, const std::vector<std::int32_t>& ranks);

}  // namespace lockstep::analyzer::hang
