// Measures what the steps of a job held beside training (diagnose/interruptions.h).
#pragma once

#include <cstdint>
#include <span>

#include "analyzer/account/account.h"
#include "analyzer/diagnose/interruptions.h"
#include "analyzer/metrics/waits.h"
#include "analyzer/metrics/windows.h"
#include "analyzer/model/job.h"
#include "analyzer/step_lengths.h"
#include "analyzer/step_selection.h"

namespace lockstep::analyzer {

// Of compilation, checkpoint and evaluation, each by itself: the steps that hold it as steps_with() says, of
// those that `selection` holds. Of compilation and checkpoint only from `first_steady` on: what is compiled
// before, or loaded to go on from, is start-up's.
//
// No moment counts twice: of evaluation what this rank or one that holds it up compiles or saves meanwhile
// does not, nor of a checkpoint what they compile; nor what it waits for another rank. Whether one rank does
// it alone is told of all it does, and of what it does outside of operations with others.
// `windows`, `phases`, `waits`: by rank, as Job::ranks.
// O(ranks · steps · log phases + phases · log looks + looks + operations · log operations + activities).
Interruptions measure_interruptions(const Job& job, std::span<const RankWindows> windows,
                                    std::span<const Phases> phases, const JobWaits& waits,
                                    std::span<const StepLength> steps, std::int64_t first_steady,
                                    const StepSelection& selection);

}  // namespace lockstep::analyzer
