// What every rank did in every step, as the question "who is late?" needs it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Steps of which every rank is known, in order; ranks in the order of `ranks`.
struct StepTable {
  std::vector<std::int32_t> ranks;
  std::vector<std::int64_t> steps;
  std::vector<const StepReport*> cells;  // [step · ranks + rank]
  std::vector<std::int64_t> late_ns;     // the same: by how much the rank was ready later than its peers
  // The same, of a pipeline's stages: how long they did nothing while others waited for their messages. Empty
  // where there is no pipeline.
  struct Idle {
    std::int64_t ns = 0;
    std::int64_t bubble_ns = 0;  // what of it is their bubble in the partition
    // How long, computing nothing, another one waited for that, or for what the stage computes beside its
    // passes: in messages that it did so before for most of the wait, all of it.
    std::int64_t exposed_ns = 0;
    std::int64_t without_core_ns = 0;  // of `ns`: they waited for a core, as far as that is known
  };
  std::vector<Idle> idle_cells;
  // Where late_ns was limited (host_pace.h), else empty: what it was before, and of each rank whether its
  // host takes a third longer than the others' throughout.
  std::vector<std::int64_t> by_waits_ns;  // [step · ranks + rank]
  std::vector<bool> slow_hosts;
  // Of each step, what its ranks together waited beyond what any of them is late by: because their own hosts
  // need that time as well, or because they share a GPU.
  std::vector<std::int64_t> behind_hosts_ns, behind_gpu_ns;
  std::int64_t mean_step_ns = 0;  // of all ranks' windows: what ranks wait in the mean is never more

  std::size_t rank_count() const { return ranks.size(); }
  std::size_t index_of(std::int32_t rank) const {
    return static_cast<std::size_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
  }
  const StepReport& cell(std::size_t step, std::size_t rank) const {
    return *cells[step * ranks.size() + rank];
  }
  Idle idle(std::size_t step, std::size_t rank) const {
    return idle_cells.empty() ? Idle() : idle_cells[step * ranks.size() + rank];
  }
  std::int64_t late(std::size_t step, std::size_t rank) const { return late_ns[step * ranks.size() + rank]; }
  // By what the rank waits less than the others, whatever it costs.
  std::int64_t late_by_waits(std::size_t step, std::size_t rank) const {
    return (by_waits_ns.empty() ? late_ns : by_waits_ns)[step * ranks.size() + rank];
  }
  bool is_limited() const { return !by_waits_ns.empty(); }
  bool has_slow_host(std::size_t rank) const { return rank < slow_hosts.size() && slow_hosts[rank]; }
};

// Ranks of which fewer than nine in ten steps are known are left out, then steps of which some rank is not
// known.
//
// How late a rank is in a step is how much less it waits in collectives, outside of compute, than the median
// of the others: who never waits is who is waited for. (The lower median, so that half of the ranks can be
// late together.) Whether the lateness has one cause or a hundred small ones within the step makes no
// difference, and waiting that compute hides costs nobody anything. The partition of a step is exact, so that
// what a rank waits less it does more of something else: excess_by_cause says of what.
//
// `blamed`, where given, says instead how long each rank was waited for in a step (by a pipeline's stages,
// whose waiting differs by design): blamed(step, rank) in ns.
using BlamedInStep = std::function<std::int64_t(std::int64_t step, std::int32_t rank)>;
// `besides`: how long a rank waited in a step that its partition does not count as waiting, in ns.
using WaitedBesides = std::function<std::int64_t(const StepReport& step)>;
StepTable make_step_table(const Report& report, const BlamedInStep& blamed = nullptr,
                          const WaitedBesides& besides = nullptr);

// The same ranks in some of the steps (indices, in order).
StepTable some_steps(const StepTable& table, std::span<const std::size_t> steps);
// In the steps from one on (an index) to the end.
StepTable steps_from(const StepTable& table, std::size_t first);

// A rank's time (its index) by one cause in one step. What a stage idles while others wait for it is its
// host's, and no bubble; how long it moves data says where in the pipeline it is (one in the middle has
// messages to both sides), and counts as 0.
std::int64_t time_by_cause(const StepTable& table, std::size_t step, std::size_t rank, std::size_t cause);
// Of `rank` (an index) in one step: each cause's time beyond the lower median of the others.
std::array<std::int64_t, kCauseCount> excess_by_cause(const StepTable& table, std::size_t step,
                                                      std::size_t rank);

// What a rank does itself: its window without waiting for others and without moving data.
std::int64_t own_time(const StepTable& table, std::size_t step, std::size_t rank);
// The same and moving data: all that can make others wait for it.
std::int64_t busy_time(const StepTable& table, std::size_t step, std::size_t rank);
// By how much it exceeds the lower median of the others' in the same step: [step · ranks + rank]. What a rank
// does at the end of a step makes it late in the next one; here it counts in the step in which it is done.
// O(steps · ranks · log ranks).
std::vector<std::int64_t> own_excess(const StepTable& table);

}  // namespace lockstep::analyzer
