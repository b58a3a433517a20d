// When each pipeline ran: idle time of its ranks then is the pipeline's bubble (docs/metrics.md,
// "Pipelines").
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/match/match.h"
#include "analyzer/metrics/windows.h"

namespace lockstep::analyzer {

// One step of one pipeline group.
struct PipelineRegion {
  std::uint32_t group = 0;           // Matching::groups
  std::optional<std::int64_t> step;  // its number; absent where none of the group's ranks has step marks
  Interval interval;                 // not empty
  // From the first forward start to the last backward end. False: some rank has no such ranges in this step,
  // and the interval runs from the first to the last message of the group; of a chain of stages with the
  // first forward before and the last backward behind them.
  bool passes_known = false;
};

// Of all groups that are pipelines and exchange messages, over their ranks that left a trace; sorted by
// group, then step. Where a group's ranks have step marks, what lies outside of steps is in no region.
// O(activities).
std::vector<PipelineRegion> find_pipeline_regions(const Job& job, const Matching& matching,
                                                  const std::stop_token& stop = {});

// Per rank of the job: the union of the regions of the groups that it belongs to.
std::vector<IntervalSet> regions_of_ranks(const Job& job, const Matching& matching,
                                          const std::vector<PipelineRegion>& regions);

// The step that an activity belongs to, as ranks agree on it. Absent: no step.
std::optional<std::int64_t> step_number(const RankTrace& rank, const Activity& activity);
// What is known of a computation; nothing of any other activity.
Computation computation_of(const RankTrace& rank, const Activity& activity);
// Indices into Job::ranks of the group's ranks that left a trace, by rank.
std::vector<std::size_t> present_members(const Job& job, const MatchGroup& group);

}  // namespace lockstep::analyzer
