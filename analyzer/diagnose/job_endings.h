// How a recorded job ended: which rank first, and whether because somebody asked it to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// The latest time of which the rank's file knows anything.
Nanoseconds last_sign(const RankTrace& rank);

// Whether its process may have been there at `time`, as far as its file knows: one that was not closed lacks
// its last moments.
bool may_have_run_until(const RankTrace& rank, Nanoseconds time);

// Whose end was surely the first, as an index; kNone where nobody can tell. One that closed its file ended by
// itself, and its last sign is its end; others were killed, up to a second after their last sign.
std::size_t first_to_end(const Job& job);

// Whether the job ended with an error because it was interrupted: no rank had surely ended long before.
bool ended_by_interruption(const Job& job);

// Whether one of these findings says that the job hung.
bool is_said_to_have_hung(const std::vector<Finding>& findings);

// "Ctrl-C (SIGINT)", "SIGTERM", "signal 40"
std::string signal_in_words(std::int32_t signal);

}  // namespace lockstep::analyzer
