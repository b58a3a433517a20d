// In which steps ranks did something else than training, whatever else lies in the same steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/phase_names.h"

namespace lockstep::analyzer {

// So many times as much as of any other rank is of one alone.
inline constexpr std::int64_t kOfOneRank = 4;

// Neighbouring steps that hold a phase.
struct PhaseStretch {
  std::int64_t first = 0, last = 0;
  std::int64_t ns = 0;                    // of the rank that it took longest of, Σ over them
  std::int32_t longest_on = 0;            // that rank
  std::optional<std::int32_t> rank = {};  // of which alone it took that: kOfOneRank times any other's
};

struct PhaseInSteps {
  // In order. Where another rank alone was in the phase, and in no step by then, there is none.
  std::vector<PhaseStretch> stretches;
  std::int64_t steps = 0, of_steps = 0;  // that hold it; that were looked at
  // More than half of the run's steps hold it: this loop is so, and they are not left out for it.
  bool is_usual = false;
  PhaseStretch longest;  // of the stretches; where it is usual, of the steps
};

struct Interruptions {
  std::array<PhaseInSteps, kPhaseCount> of;  // of start-up and what is saved beside training: nothing
  bool whole_run = false;                    // all steps were looked at, not only some that were asked for
  const PhaseInSteps& operator[](Phase phase) const { return of[static_cast<std::size_t>(phase)]; }
};

}  // namespace lockstep::analyzer
