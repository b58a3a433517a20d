#include "analyzer/import/run/clock.h"

#include <algorithm>

namespace lockstep::analyzer::run {

std::uint64_t read_clock(std::span<const trace::ClockSnapshot> snapshots, std::int64_t interrupted_at,
                         RankImport& import) {
  for (const trace::ClockSnapshot& snapshot : snapshots) {
    std::int64_t zero = 0;
    if (snapshot.realtime == kUnknownTime || snapshot.time == kUnknownTime ||
        __builtin_sub_overflow(snapshot.realtime, snapshot.time, &zero))
      continue;
    import.realtime_of_zero = zero;
    break;
  }
  Ending& ending = import.trace.ending;
  std::uint64_t unsound = 0;
  for (const trace::ClockSnapshot& snapshot : snapshots) {
    if (snapshot.time >= -kLatest && snapshot.time <= kLatest)
      ending.recorded_until = std::max(ending.recorded_until, snapshot.time);
    else
      ++unsound;
  }
  Nanoseconds interrupted = 0;
  if (interrupted_at > 0 && import.realtime_of_zero.has_value() &&
      !__builtin_sub_overflow(interrupted_at, *import.realtime_of_zero, &interrupted))
    ending.interrupted = std::clamp(interrupted, -kLatest, kLatest);
  return unsound;
}

}  // namespace lockstep::analyzer::run
