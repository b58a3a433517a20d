// Stages of a pipeline that do nothing while others wait for their messages: no schedule makes that.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct IdleStages {
  // By step and rank: how long another stage waited in a message that this one came last to, while this one
  // neither computed, nor copied, nor had an operation open. An instant counts once, however many wait.
  std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> ns;
  // CollectiveReport::id of the messages that were waited for mostly so.
  std::set<std::int64_t> messages;
};

// Of messages in the groups of the report's pipelines. In the partition that idle time is the stage's bubble,
// for it lies in the pipeline's region. O(activities + messages · log activities).
IdleStages find_idle_stages(const Job& job, const Report& report);

}  // namespace lockstep::analyzer
