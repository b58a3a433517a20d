// Whether the last moments of a killed process are lost: a rank's warning `file_incomplete` tells where they
// are not.
#pragma once

#include <algorithm>
#include <string_view>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// Part of the warning's message: another process wrote what the killed one had recorded.
inline constexpr std::string_view kSurvivorWrote = "(--survive-kill)";

// Lockstep's file of a process that was killed, crashed or left by _exit lacks up to its last kLastFlush,
// unless the survivor wrote them. What it wrote afterwards the job's warnings alone tell.
inline bool lacks_last_moments(const Job& job, const RankTrace& rank) {
  return !rank.ending.closed && rank.ending.recorded_until != kUnknownTime &&
         std::none_of(job.warnings.begin(), job.warnings.end(), [&](const Warning& warning) {
           return warning.rank == rank.rank && warning.code == "file_incomplete" &&
                  warning.message.find(kSurvivorWrote) != std::string_view::npos;
         });
}

}  // namespace lockstep::analyzer
