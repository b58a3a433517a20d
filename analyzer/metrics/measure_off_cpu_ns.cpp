// What all training threads of the rank slept or were blocked within computation: of the gaps that this left,
// where nothing else ran (docs/metrics.md, "On a core").
#include "analyzer/metrics/rank_timeline.h"
#include "analyzer/metrics/window_measure.h"

namespace lockstep::analyzer {

const WindowMeasure window_measures::off_cpu_ns{
    .measure =
        [](const RankTimeline& timeline, Interval, Measures& measures) {
          if (timeline.rank().off_cpu_known) measures.off_cpu_ns = 0;
        },
    .add_stretch =
        [](const RankTimeline& timeline, const CauseSegment& stretch, Measures& measures) {
          if (stretch.cause != Cause::host_bound && stretch.cause != Cause::pipeline_bubble) return;
          *measures.off_cpu_ns += timeline.off_cpu().measure_within(stretch.begin, stretch.end);
        },
    .needs_stretches =
        [](const RankTimeline& timeline) {
          return timeline.rank().off_cpu_known && !timeline.off_cpu().empty();
        }};

}  // namespace lockstep::analyzer
