// The stretches of time that figures are computed over. Definitions: docs/metrics.md, "Windows".
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct StepWindow {
  std::int64_t number = 0;
  std::uint32_t mark = 0;  // RankTrace::steps
  Interval window;         // may be empty
  bool from_host = false;  // no launch is known in this step: the host range stands for it
};

struct RankWindows {
  Interval whole;                 // first device activity's start to the last one's end; empty without any
  bool has_work = false;          // the rank has a device activity at all
  std::vector<StepWindow> steps;  // in order; never overlap
};

// The step (index into RankTrace::steps) that launched an activity: what the importer said, else the step
// whose host range holds the return of the launching call; kNone where neither is known. O(log steps).
std::uint32_t launching_step(const RankTrace& rank, const Activity& activity);

RankWindows find_windows(const RankTrace& rank);
// RankWindows::whole alone; empty without any device activity.
Interval whole_window(const RankTrace& rank);

// The parts of a window in which the rank was recorded: without the times at which nobody listened, as far as
// nothing was recorded to run on into them. The window itself where there are none.
std::vector<Interval> recorded_parts(const RankTrace& rank, Interval window);

// Synchronization records make nothing busy, stretch no window and are never what an idle device waits for.
inline bool is_work(const Activity& activity) {
  return activity.activity_class != Class::sync;
}

}  // namespace lockstep::analyzer
