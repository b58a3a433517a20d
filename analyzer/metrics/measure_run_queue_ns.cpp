// How long a training thread of the rank waited for a core within a window (docs/metrics.md, "On a core").
#include "analyzer/metrics/rank_timeline.h"
#include "analyzer/metrics/scheduling.h"
#include "analyzer/metrics/window_measure.h"

namespace lockstep::analyzer {

const WindowMeasure window_measures::run_queue_ns{
    .measure = [](const RankTimeline& timeline, Interval window, Measures& measures) {
      if (const auto times = scheduling_within(timeline.rank().scheduling, window))
        measures.run_queue_ns = times->waited_ns;
    }};

}  // namespace lockstep::analyzer
