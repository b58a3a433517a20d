// How long each step took, and what it held beside training.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/account/account.h"
#include "analyzer/metrics/windows.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct StepLength {
  std::int64_t step = 0;
  std::int64_t ns = 0;  // of the rank that took longest
  // Of it, in ranges of each phase, of all ranks that hold each other up (phases_of_any.h) together while the
  // step lasted on one: those that wait for a rank that compiles are in another step by then.
  std::array<std::int64_t, kPhaseCount> phase_of_any_ns{};
  // Of that, what is of no phase that comes before (PhasesOfAny::counted).
  std::array<std::int64_t, kPhaseCount> counted_of_any_ns{};
  // By phase, where ranks did it in other steps or behind their last one alone: how long the step took, of
  // the rank that took longest of those in whose step that lay. Else 0.
  std::array<std::int64_t, kPhaseCount> beside_others_ns{};
  // For how long a training thread waited for a core in it: of the rank with most. 0 where that is not known.
  std::int64_t core_wait_ns = 0;
};

// Of a job's windows, with the phases of each rank, in the order of its ranks; by number.
std::vector<StepLength> step_lengths(const Job& job, std::span<const RankWindows> windows,
                                     std::span<const Phases> phases);

}  // namespace lockstep::analyzer
