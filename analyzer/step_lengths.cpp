#include "analyzer/step_lengths.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "analyzer/metrics/scheduling.h"
#include "analyzer/phases_of_any.h"

namespace lockstep::analyzer {
namespace {

void add_phase(std::int64_t ns, std::int32_t rank, std::size_t phase, StepLength& length) {
  if (ns > length.phase_ns[phase]) {
    length.phase_next_ns[phase] = std::exchange(length.phase_ns[phase], ns);
    length.phase_rank[phase] = rank;
  } else {
    length.phase_next_ns[phase] = std::max(length.phase_next_ns[phase], ns);
  }
}

}  // namespace

std::vector<StepLength> step_lengths(const Job& job, std::span<const RankWindows> windows,
                                     std::span<const Phases> phases) {
  const PhasesOfAny of_any(job, phases);
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
        add_phase(phases[rank].of[i].measure_within(begin, end), job.ranks[rank].rank, i, length);
        length.phase_of_any_ns[i] = std::max(length.phase_of_any_ns[i], of_any.within(rank, i, step.window));
      }
    }
  }
  std::vector<StepLength> lengths;
  lengths.reserve(longest.size());
  for (const auto& [number, length] : longest) lengths.push_back(length);
  return lengths;
}

}  // namespace lockstep::analyzer
