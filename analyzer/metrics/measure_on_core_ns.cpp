// What the rank's training threads ran within a window (docs/metrics.md, "On a core").
#include "analyzer/metrics/rank_timeline.h"
#include "analyzer/metrics/scheduling.h"
#include "analyzer/metrics/window_measure.h"

namespace lockstep::analyzer {

const WindowMeasure window_measures::on_core_ns{
    .measure = [](const RankTimeline& timeline, Interval window, Measures& measures) {
      if (const auto times = scheduling_within(timeline.rank().scheduling, window))
        measures.on_core_ns = times->on_cpu_ns;
    }};

}  // namespace lockstep::analyzer
