// What the files of others show of a rank whose own file lacks its last moments.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// A collective in which nobody ends before all of its group have come: an all-reduce, a barrier.
struct EndedTogether {
  std::int64_t sequence = kNoSequence;
  std::uint32_t name = 0;  // StringTable
  Nanoseconds end = kUnknownTime;
  std::optional<std::int64_t> step;  // of the rank that ended it
};

// Of each group the last such collective that a rank has ended, and after whose step it began another
// operation (where steps are not known: after whose end it began another one of the group): not by a failure.
// All ranks of the group have come to it, whatever their own files say.
// O(communications · log groups).
std::map<std::uint32_t, EndedTogether> last_ended_together(const Job& job);

// Of those, the latest one that a rank took part in (an index) and that its file, which was not closed, does
// not hold any more; absent where there is none.
std::optional<EndedTogether> last_shown_by_others(const Job& job, std::size_t index);

}  // namespace lockstep::analyzer
