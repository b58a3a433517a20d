// What the phases of other ranks have to do with the steps of a rank: those that meet it in most steps hold
// it up, whatever it does meanwhile. Ranks that it meets now and then (folds, populations, local steps) do
// only while it is in an operation with them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/account/account.h"
#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Of what lies in two of them the first counts.
inline constexpr std::array kInterrupting{Phase::compilation, Phase::checkpoint, Phase::evaluation};

class PhasesOfAny {
 public:
  // `phases`: by rank, as Job::ranks. Where the ranks' clocks are not related each has to do with its own
  // alone. O((operations + phases) log).
  PhasesOfAny(const Job& job, std::span<const Phases> phases);

  // When this rank or one that holds it up is in the phase.
  const IntervalSet& of(std::size_t rank, std::size_t phase) const {
    return sets_[set_of_rank_[rank]][phase];
  }
  // Of that, what is of no phase that comes before: compilation, checkpoint, evaluation, in this order. Who
  // waits in an evaluation for a rank that still saves waits for a checkpoint.
  const IntervalSet& counted(std::size_t rank, std::size_t phase) const {
    return counted_[set_of_rank_[rank]][phase];
  }
  // For how much of `window` this rank or one that holds it up is in the phase, ns.
  std::int64_t within(std::size_t rank, std::size_t phase, Interval window) const {
    return of(rank, phase).measure_within(window.begin, window.end);
  }

 private:
  void count();

  std::vector<std::array<IntervalSet, kPhaseCount>> sets_, counted_;
  std::vector<std::size_t> set_of_rank_;
};

}  // namespace lockstep::analyzer
