// Whether the runs of a baseline vary little enough for a policy: what would become of a change that changes
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/gate/verdict.h"

namespace lockstep::analyzer {

enum class Quiet : std::uint8_t {
  yes,      // settled nine times in ten, also where runs vary by as much as these leave open
  unclear,  // so if they vary as these do; so few runs do not tell that they do
  no,       // often left open, as these runs vary; or a run does not tell the figure
};

struct FigureQuietness {
  FigureVerdict figure;  // the runs, held to themselves
  Quiet quiet = Quiet::no;
  // Absent where the figure is missing, or of a single run.
  std::optional<double> most_deviation;    // the true one is no more, at 95 %
  double chance = 0, least_chance = 0;     // of being settled: as the runs vary, and at most_deviation
  std::optional<std::size_t> runs_enough;  // so many a side, which vary as these do, would be `yes`
};

// In the policy's order; what is expected of changes does not count. Errors are those of judge().
Result<std::vector<FigureQuietness>> quietness(const Policy& policy, std::span<const RunRecord> runs);

// "settled, also at ± 4.42 ms, the most that 3 runs leave open"; else why not, and what would do.
std::string quietness_text(const FigureQuietness& one);

}  // namespace lockstep::analyzer
