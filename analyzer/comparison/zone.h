// One figure of the head against what it is held to: worse beyond the tolerance, within it, or not settled.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/comparison/difference.h"
#include "analyzer/comparison/direction.h"
#include "analyzer/comparison/sample.h"

namespace lockstep::analyzer {

// By how much a figure may be worse: the larger of both.
struct Tolerance {
  double relative = 0;  // of what it is held to: 0.03 is 3 %
  double floor = 0;     // in the figure's own unit
};

// A figure so turned that more is worse: what counts is by how much it lies beyond `limit`.
struct Excess {
  Difference beyond = {};  // of the head's mean and the limit; above 0: worse than tolerated
  double limit = 0;        // in the figure's own unit and direction: "412 ms = 400 ms + 3 %"
  double factor = 1;       // the limit is this times the baseline's mean, and a number
};

// Against runs of a baseline, which vary themselves; or against a bound, which does not. Both sides have a
// run at least.
Excess excess_over(const Sample& head, const Sample& base, Direction direction, const Tolerance& tolerance);
Excess excess_over(const Sample& head, double bound, Direction direction, const Tolerance& tolerance);

// The same the other way: above 0 where the head is better than what it is held to by more than the
// tolerance.
Excess gain_over(const Sample& head, const Sample& base, Direction direction, const Tolerance& tolerance);

enum class Zone : std::uint8_t {
  worse,      // beyond the tolerance, with confidence
  within,     // no worse than tolerated, with confidence
  undecided,  // neither: more runs would tell
};
const char* to_string(Zone zone);  // "worse"

// `adjusted_chance` is chance_as_high(beyond), corrected for the figures judged together (holm.h); absent
// where nobody knows the spread.
Zone zone_of(const Excess& excess, std::optional<double> adjusted_chance, double confidence);

}  // namespace lockstep::analyzer
