// What a rank had done with its time by each communication's begin and end: the ground of the delay analysis.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/metrics/rank_timeline.h"

namespace lockstep::analyzer {

struct CommunicationProfile {
  RankTimeline::CauseTimes until_begin{}, until_end{};  // from the rank's own beginning on
  bool computing_at_end = false;  // compute ran on across the operation's end: it held nothing up
};

// When a rank's recording begins: with its first step, launch or device activity, whichever comes first; 0
// where it has none.
Nanoseconds recording_begin(const RankTrace& rank, const RankWindows& windows);

// One entry per communication of the rank. `begin`: none of its activities begins before it.
std::vector<CommunicationProfile> profile_rank(const RankTimeline& timeline, Nanoseconds begin);

}  // namespace lockstep::analyzer
