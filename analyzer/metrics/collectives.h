// Turns matches and their waits into the report's list of collectives.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "analyzer/match/match.h"
#include "analyzer/metrics/rank_timeline.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/metrics/windows.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// [rank index][communication index]
using CommunicationCovers = std::vector<std::vector<RankTimeline::CommunicationCover>>;

struct CollectiveList {
  std::vector<CollectiveReport>
      collectives;  // in order of first arrival; the ids 0, 1, … count all of the job
  // [rank index][communication index] -> index into `collectives`, kNone where in none
  std::vector<std::vector<std::uint32_t>> collective_of;
};

// The step of an operation is the one that launched it, else the one whose window holds its beginning on the
// first of its ranks; `windows`: [rank index]. `origin`: what points in time are relative to. `selected`:
// does an operation of this step (absent: of none) belong into the report?
CollectiveList list_collectives(const Job& job, const Matching& matching,
                                const std::vector<MatchWaits>& waits, const JobWaits& job_waits,
                                const CommunicationCovers& covered, const std::vector<RankWindows>& windows,
                                Nanoseconds origin,
                                const std::function<bool(std::optional<std::int64_t>)>& selected,
                                const std::stop_token& stop = {});

}  // namespace lockstep::analyzer
