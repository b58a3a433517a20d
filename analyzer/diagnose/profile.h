// What a rank had done with its time by each communication's begin and end: the ground of the delay analysis.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/metrics/rank_timeline.h"

namespace lockstep::analyzer {

struct CommunicationProfile {
  RankTimeline::CauseTimes until_begin{}, until_end{};  // from the job's first activity on
  bool computing_at_end = false;  // compute ran on across the operation's end: it held nothing up
};

// One entry per communication of the rank. `job_begin`: the first device activity of any rank.
std::vector<CommunicationProfile> profile_rank(const RankTimeline& timeline, Nanoseconds job_begin);

}  // namespace lockstep::analyzer
