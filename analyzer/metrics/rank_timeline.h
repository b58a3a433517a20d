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

#include <array>
#include <cstddef>
#include <cstdint>
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
  // `overlap_ratio_per_kernel` is left out: it counts kernels, not instants (per_kernel_overlap). `longest`
  // keeps what is longer already.
  Measures measures(Interval window, std::vector<CauseSegment>* segments = nullptr,
                    LongestStretches* longest = nullptr) const;

  // How the idle gaps of a window end: at an activity whose launch is known, or not (then causes 7 and 8
  // cannot be told).
  struct Gaps {
    std::int64_t count = 0, without_launch = 0;
    std::int64_t ns = 0, without_launch_ns = 0;
  };
  Gaps gaps(Interval window) const;

  // Time by cause from `begin` up to each of `times` (sorted, none before `begin`). O(what lies between +
  // times).
  using CauseTimes = std::array<std::int64_t, kCauseCount>;
  std::vector<CauseTimes> causes_until(Nanoseconds begin, std::span<const Nanoseconds> times) const;

  // How much compute there is before a communication, under its own wait, and under all of it.
  struct CommunicationCover {
    std::int64_t before_ns = 0, wait_ns = 0, all_ns = 0;
  };
  // One result per communication. O(communications · log n).
  std::vector<CommunicationCover> covered_communication() const;

  // Σ over the rank's communication kernels of their parts within the window, and of what of these lies under
  // compute.
  struct KernelOverlap {
    double covered_ns = 0, total_ns = 0;
  };
  // One result per window; windows are sorted and do not overlap. `covered`, where it is there
  // anyway, is what covered_communication() gives: then no communication within one window is looked for.
  // O(communications · log n).
  std::vector<KernelOverlap> per_kernel_overlap(std::span<const Interval> windows,
                                                std::span<const CommunicationCover> covered = {}) const;

  const IntervalSet& compute() const { return compute_; }
  const IntervalSet& off_cpu() const { return off_cpu_; }  // RankTrace::off_cpu
  const RankTrace& rank() const { return *rank_; }

 private:
  template <class VisitCovered, class VisitCause>
  void visit(Interval window, VisitCovered&& covered, VisitCause&& cause) const;

  const RankTrace* rank_;
  std::vector<CommunicationWait> waits_;
  IntervalSet compute_, transfer_, collective_wait_, p2p_wait_, pipeline_wait_, copy_, unclassified_;
  IntervalSet pipeline_region_, data_loading_, off_cpu_;
};

}  // namespace lockstep::analyzer
