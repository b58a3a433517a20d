// The analyzer's front door: from a Job to a Report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/metrics/cause_segment.h"
#include "analyzer/metrics/rank_timeline.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/model/job.h"
#include "analyzer/report/report.h"
#include "base/result.h"

namespace lockstep::analyzer {

struct AnalysisOptions {
  // Only these steps: ranks[] then covers the union of their windows. Absent: the whole window.
  std::optional<std::int64_t> first_step, last_step;
  // Findings, blame, efficiency and tables over steady training alone (steady_steps.h), and Report::steady.
  // Without effect where steps are selected, or none are marked.
  bool steady = false;
  // Fill Analysis::segments: 24 bytes for each change of cause. A report alone does not need them.
  bool keep_segments = true;
  // Called with the share that is done, from 0 to 1 and never less than before; for a progress bar.
  std::function<void(double done)> progress{};
  // Asked to stop, the analysis ends with an error as soon as the rank, step or operation at hand is done.
  std::stop_token stop{};
};

struct Analysis {
  Report report;
  // [rank index][communication index] -> index into report.collectives, or kNone where unmatched.
  std::vector<std::vector<std::uint32_t>> collective_of;
  // [rank index]: the whole window's partition as segments, times on the Job's axis. What a step bar or cause
  // lane draws. Where the rank's file lost activities there are none.
  std::vector<std::vector<CauseSegment>> segments;
  // What a RankTimeline is built from, to ask for the figures of any other window: see timeline_of().
  JobWaits waits;
  std::vector<IntervalSet> pipeline_regions;  // [rank index]
};

// Errors: a Job that breaks the promises of job.h; selected steps that no rank has (the message lists those
// that exist); stopped.
Result<Analysis> analyze(const Job& job, const AnalysisOptions& options = {});

// One rank's time, to be asked about any window (a range selected with the mouse); keep it while the rank is
// shown. Both arguments must outlive it.
RankTimeline timeline_of(const Job& job, const Analysis& analysis, std::size_t rank_index);

// The measures of one rank over what of its whole window lies in [begin, end) and was recorded (whole_window,
// recorded_parts), times on the Job's axis: of a range that holds everything the figures that the report has.
Measures measures_of(const RankTimeline& timeline, Nanoseconds begin, Nanoseconds end);

}  // namespace lockstep::analyzer
