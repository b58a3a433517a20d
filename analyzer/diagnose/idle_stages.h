// Stages of a pipeline that do nothing while others wait for their messages: no schedule makes that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/intervals/interval_set.h"
#include "analyzer/lateness/step_table.h"
#include "analyzer/model/job.h"
#include "analyzer/report/report.h"
#include "analyzer/stacks/slow_place.h"

namespace lockstep::analyzer {

struct IdleStages {
  // By step and rank: how long another stage waited in a message that this one came last to, while this one
  // neither computed, nor copied, nor had an operation open. An instant counts once, however many wait.
  std::map<std::pair<std::int64_t, std::int32_t>, StepTable::Idle> of_step;
  StepTable::Idle of(std::int64_t step, std::int32_t rank) const {
    const auto found = of_step.find({step, rank});
    return found == of_step.end() ? StepTable::Idle() : found->second;
  }

  // The times themselves, by rank, in order.
  std::map<std::int32_t, std::vector<Interval>> times;
  // By CollectiveReport::id: for how much of the message's longest wait the stage that came last did so, or
  // computed beside its passes (computed_outside_passes). Those without are left out.
  std::map<std::int64_t, std::int64_t> of_message;

  // For more than half of the longest wait.
  bool mostly_idle(const CollectiveReport& message) const;
};

// Of messages in the groups of the report's pipelines. What of that time lies in the pipeline's region is the
// stage's bubble in the partition. `regions`, by rank: those regions (regions_of_ranks); empty: all of it
// does. O(activities + messages · log activities).
IdleStages find_idle_stages(const Job& job, const Report& report,
                            const std::vector<IntervalSet>& regions = {});

// The line of Python that the rank idled in (place_within).
std::optional<CommonPlace> place_of_idling(const Job& job, const IdleStages& idle, std::int32_t rank);
// The host range that was the innermost of the rank's for half of the time that it idled or more
// (Job::strings); absent where none was.
std::optional<std::uint32_t> host_range_of_idling(const Diagnosis& diagnosis, const IdleStages& idle,
                                                  std::int32_t rank);

}  // namespace lockstep::analyzer
