#include "analyzer/step_lengths.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

#include "analyzer/metrics/scheduling.h"
#include "analyzer/phases_of_any.h"

namespace lockstep::analyzer {

std::vector<StepLength> step_lengths(const Job& job, std::span<const RankWindows> windows,
                                     std::span<const Phases> phases) {
  const PhasesOfAny of_any(job, phases);
  std::map<std::int64_t, std::array<bool, kPhaseCount>> is_own;  // by step: a rank that was in it did it
  std::map<std::int64_t, StepLength> longest;
  for (std::size_t rank = 0; rank < windows.size(); ++rank) {
    for (const StepWindow& step : windows[rank].steps) {
      const auto [begin, end] = step.window;
      StepLength& length = longest[step.number];
      length.step = step.number;
      length.ns = std::max(length.ns, end - begin);
      if (const auto scheduled = scheduling_within(job.ranks[rank].scheduling, step.window))
        length.core_wait_ns = std::max(length.core_wait_ns, scheduled->waited_ns);
      for (std::size_t i = 0; i < kPhaseCount; ++i) {
        const std::int64_t ns = of_any.within(rank, i, step.window);
        if (ns == 0) continue;
        length.phase_of_any_ns[i] = std::max(length.phase_of_any_ns[i], ns);
        length.counted_of_any_ns[i] =
            std::max(length.counted_of_any_ns[i], of_any.counted(rank, i).measure_within(begin, end));
        length.beside_others_ns[i] = std::max(length.beside_others_ns[i], end - begin);
        if (phases[rank].of[i].measure_within(begin, end) > 0) is_own[step.number][i] = true;
      }
    }
  }
  for (const auto& [number, own] : is_own)
    for (std::size_t i = 0; i < kPhaseCount; ++i)
      if (own[i]) longest[number].beside_others_ns[i] = 0;
  std::vector<StepLength> lengths;
  lengths.reserve(longest.size());
  for (const auto& [number, length] : longest) lengths.push_back(length);
  return lengths;
}

}  // namespace lockstep::analyzer
