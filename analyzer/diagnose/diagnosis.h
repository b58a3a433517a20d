// What a diagnosis looks at: the job, and what has been computed of it.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diagnose/delays.h"
#include "analyzer/diagnose/host_names.h"
#include "analyzer/diagnose/interruptions.h"
#include "analyzer/match/match.h"
#include "analyzer/metrics/rank_timeline.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct Diagnosis {
  const Job& job;
  const Matching& matching;
  const std::vector<MatchWaits>& waits;                          // by match
  const std::vector<std::vector<std::uint32_t>>& collective_of;  // [rank index][communication index]
  Delays delays;
  std::vector<RankTimeline::Gaps> gaps;        // by rank, over its whole window
  std::vector<HostSpans> host_spans;           // by rank
  std::vector<LongestStretches> longest = {};  // by rank, over its whole window; empty of a rank with steps
  std::vector<IntervalSet> pipeline_regions = {};  // by rank, or empty
  Interruptions interruptions = {};                // nothing where nobody can tell which steps are steady

  // Index into report.collectives; kNone where the match is not in the report.
  std::uint32_t collective_index(std::uint32_t match) const {
    const MatchRecord first = matching.records_of(matching.matches[match]).front();
    return collective_of[first.rank][first.communication];
  }
};

}  // namespace lockstep::analyzer
