// Whether a rank that computes longer does so because its GPU's clock is lower, where clocks were recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

struct ClockComparison {
  enum class Answer : std::uint8_t {
    not_recorded,  // of this rank or of all others; or it computes on no GPU of its own
    cannot_tell,   // recorded, and too seldom, of too few others, or of GPUs that do not compare
    excluded,      // as high as the others', or it explains less than half of what it computes longer
    lower,         // it explains half of that at least
  };
  Answer answer = Answer::not_recorded;
  // Of a lower one: "with its GPU at 1.20 GHz and the others' at 1.98 GHz".
  std::string doing;
  std::vector<std::string> evidence;  // empty where nothing was recorded
  std::string remedy;                 // of a lower one, and where GPUs do not compare; else empty
};

// Of a rank whose lateness, in these steps, is compute. Work that is bound by the clock takes as many times
// as long as its clock is lower, which is the most that it can explain. Another rank whose clock is as low
// and which does not compute longer excludes it. O(activities of all ranks).
ClockComparison compare_clocks(const FindingContext& context, const StepTable& steps,
                               const RankLateness& late);

}  // namespace lockstep::analyzer
