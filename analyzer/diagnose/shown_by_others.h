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

// Made once for a job, which has to outlive it; asked for any of its ranks.
class ShownByOthers {
 public:
  explicit ShownByOthers(const Job& job);
  // Of those, the latest one that the rank (an index) took part in and that its file, which was not closed,
  // does not hold any more; absent where there is none. O(groups + the rank's communications).
  std::optional<EndedTogether> last_of(std::size_t index) const;

 private:
  const Job* job_;
  std::map<std::uint32_t, EndedTogether> together_;
};

}  // namespace lockstep::analyzer
