// Which rank the others wait for while the job starts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analyzer/account/account.h"
#include "analyzer/match/match.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// The rank that the others waited for longest, in operations that it was last in and before its first
// computation in a step, whether in their own start-up or behind it (LateStart). Nothing where that is less
// than two seconds in the others' mean, or a twentieth of `wall_ns`. Arguments as with_waits_for's.
// O(records).
std::optional<LateStart> find_late_start(const Job& job, std::span<const RankWindows> windows,
                                         const Matching& matching, std::span<const MatchWaits> of_matches,
                                         const JobWaits& waits, std::int64_t wall_ns);

}  // namespace lockstep::analyzer
