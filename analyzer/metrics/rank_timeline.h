// One rank's time, ready to be asked about any window: which cause each instant has, and the measures of
// docs/metrics.md.
//
//   RankTimeline timeline(job, rank_index, analysis.waits[rank_index],
//   analysis.pipeline_regions[rank_index]); Partition causes = timeline.measures(begin, end).partition; // a
//   range selected with the mouse
//
// Building it is O(n log n) in communications and O(n) in the rest, and takes at most 24 bytes an activity; a
// question costs O(log n) plus what lies within the window.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/metrics/cause_segment.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/metrics/windows.h"

namespace lockstep::analyzer {

class RankTimeline {
 public:
  // `rank` must outlive the timeline. `waits` has one entry per communication of the rank.
  RankTimeline(const RankTrace& rank, std::span<const CommunicationWait> waits, IntervalSet pipeline_region);

  // All measures of [begin, end), and, where `segments` is given, its partition as segments (appended).
  // `overlap_ratio_per_kernel` is left out: it counts kernels, not instants (per_kernel_overlap).
  Measures measures(Interval window, std::vector<CauseSegment>* segments = nullptr) const;

  // Σ over the rank's communication kernels of their parts within the window, and of what of these lies under
  // compute.
  struct KernelOverlap {
    double covered_ns = 0, total_ns = 0;
  };
  // One result per window; windows are sorted and do not overlap. O(communications · log n).
  std::vector<KernelOverlap> per_kernel_overlap(std::span<const Interval> windows) const;

  // Per communication: how much of its own wait interval lies under compute.
  std::vector<std::int64_t> hidden_waits() const;

  const IntervalSet& compute() const { return compute_; }

 private:
  const RankTrace* rank_;
  std::vector<CommunicationWait> waits_;
  IntervalSet compute_, transfer_, collective_wait_, p2p_wait_, pipeline_wait_, copy_, unclassified_;
  IntervalSet pipeline_region_, data_loading_;
};

}  // namespace lockstep::analyzer
