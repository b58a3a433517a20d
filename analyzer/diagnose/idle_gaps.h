// What a rank's training threads did while it neither computed nor communicated: slept, ran, or waited for a
// core.
#pragma once

#include <optional>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Of a rank on a CPU, within its steps (without steps: its whole window). `cause` is host_bound, the time
// between its activities outside of data loading, or data_wait, data loading outside of its activities.
struct GapTimes {
  std::int64_t all_ns = 0;
  // Of that, the rank's threads were ready and had no core (of an interval between two looks the part of its
  // length).
  std::int64_t without_core_ns = 0;
  // The share of it in which threads ran or were ready to, by the looks around each gap (docs/metrics.md, "On
  // a core"): at least, if they did all the time outside of the gap, and at most, if they did no more than
  // compute there. Absent where two thirds of the gaps' time or more lies in gaps that the looks around are
  // more than four times as long as, or where nobody looked.
  struct Running {
    double least = 0, most = 1;
  };
  std::optional<Running> running;
};
// What the rank's figures in the report are over: steps; or, where they are over more, all that was recorded
// of it. In the job's aligned time.
IntervalSet windows_of(const RankTrace& rank, const Report& report);

// What the run's account has under names of their own, evaluation, checkpoints and compilation: nothing that
// a finding about computing has to explain. It lies in steps that are looked at although they hold it.
IntervalSet evaluation_and_the_like(const RankTrace& rank, const StringTable& strings);

// The times themselves.
IntervalSet gaps_of(const RankTrace& rank, const Report& report, Cause cause);
// O((activities + ranges + looks) log).
GapTimes times_of_gaps(const RankTrace& rank, const Report& report, Cause cause);

}  // namespace lockstep::analyzer
