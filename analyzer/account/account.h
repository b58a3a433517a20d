// Where a run's wall time went: each instant of each rank goes to one way of spending it (docs/metrics.md,
// "The run's account"). Sums are exact.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/metrics/windows.h"
#include "analyzer/model/job.h"
#include "analyzer/model/phase_names.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// When a rank's host ranges say that it did something else than training. No moment is counted as two of
// compilation, checkpoint and evaluation: what an evaluation compiles or saves is the former, in this order.
struct Phases {
  std::array<IntervalSet, kPhaseCount> of;
  const IntervalSet& operator[](Phase phase) const { return of[static_cast<std::size_t>(phase)]; }
  IntervalSet& operator[](Phase phase) { return of[static_cast<std::size_t>(phase)]; }
};
Phases find_phases(const RankTrace& rank, const StringTable& strings);

struct SpendingSegment {
  Nanoseconds begin = 0, end = 0;
  Spending spending = Spending::other;
  friend bool operator==(const SpendingSegment&, const SpendingSegment&) = default;
};
// The sets by their Spending, that of `other` unused: what none covers is other.
using SpendingSets = std::array<IntervalSet, kSpendingCount>;
// Each instant of the wall time to the first set that covers it. The segments touch and cover it exactly;
// neighbours differ.
std::vector<SpendingSegment> divide(const SpendingSets& sets, Interval wall);
Account sum(std::span<const SpendingSegment> segments);

// What of the job a rank's account depends on, beside the rank's own trace.
struct JobFacts {
  bool failed = false;
  bool waited = false;              // some rank was seen to hang, or may have waited for one that failed
  bool has_steps = false;           // some rank's trace does
  bool lacks_last_moments = false;  // the rank's own file: survivor.h
};

// A rank's sets. `steady` and `warm_up` step numbers: of those that are steady or were only interrupted, and
// those before them.
SpendingSets spending_of(const RankTrace& rank, const RankWindows& windows, const Phases& phases,
                         Interval wall, std::int64_t first_after_warm_up, JobFacts job);

// Whether nobody can tell how long the rank ran before its first event and after its last one: profilers
// (PyTorch's, Nsight Systems) record a part of a run, and their files do not say when the process began or
// ended.
bool is_part_of_a_run(const RankTrace& rank);

// Whether the rank's file was cut, or damaged so that what is missing may lie anywhere up to `end`: that
// nothing is told of some time then means nothing.
bool is_cut(const RankTrace& rank, Nanoseconds end);

// From what is known first of the rank to the first computation of its first step. Empty where it has no
// steps, or a part of the run alone was recorded of it.
Interval start_of(const RankTrace& rank, const RankWindows& windows);

// The time that is known of a rank at all: ranges, steps, activities and the end of its recording. Empty
// where there is none.
Interval known_time(const RankTrace& rank);

// `first_after_warm_up`: the number of the first step that is no warm-up. `steps_told`: whether it could be
// told which are; else there is no goodput.
AccountReport account_for(const Job& job, std::span<const RankWindows> windows,
                          std::span<const Phases> phases, std::int64_t first_after_warm_up, bool steps_told,
                          Nanoseconds origin);

}  // namespace lockstep::analyzer
