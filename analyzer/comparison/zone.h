// One figure of the head against what it is held to: worse beyond the tolerance, within it, or not settled.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/comparison/difference.h"
#include "analyzer/comparison/direction.h"
#include "analyzer/comparison/sample.h"

namespace lockstep::analyzer {

// 1, or -1 of a figure that is better the higher it is: times this, more is worse.
double sign_of(Direction direction);

// By how much a figure may be worse: the larger of both.
struct Tolerance {
  double relative = 0;  // of what it is held to: 0.03 is 3 %
  double floor = 0;     // in the figure's own unit
};

// A figure so turned that more is worse: head - factor * base - allowance, which is above 0 where the head is
// worse than tolerated.
struct Excess {
  Difference beyond = {};
  double limit = 0;             // in the figure's own unit and direction: "412 ms = 400 ms + 3 %"
  Sample head = {}, base = {};  // turned; of a bound and of pairs base has no runs
  double factor = 1;            // of a relative tolerance: the limit is as uncertain as the baseline
  double allowance = 0;
};

// Against runs of a baseline, which vary themselves; or against a bound, which does not. Both sides have a
// run at least.
Excess excess_over(const Sample& head, const Sample& base, Direction direction, const Tolerance& tolerance);
Excess excess_over(const Sample& head, double bound, Direction direction, const Tolerance& tolerance);

// The same the other way: above 0 where the head is better than what it is held to by more than the
// tolerance.
Excess gain_over(const Sample& head, const Sample& base, Direction direction, const Tolerance& tolerance);

// Whether a tolerance is a share of what has this mean: then that is larger than its floor.
bool is_relative(const Tolerance& tolerance, double mean);
// What such a share multiplies a mean by that is turned so that more is worse.
double factor_of(const Tolerance& tolerance, double turned_mean);

enum class Zone : std::uint8_t {
  worse,      // beyond the tolerance, with confidence
  within,     // no worse than tolerated, with confidence
  undecided,  // neither: more runs would tell
};
const char* to_string(Zone zone);  // "worse"

// `adjusted_chance` is chance_as_high(beyond), corrected for the figures judged together (holm.h); absent
// where nobody knows the spread. Worse where it is at most `false_alarms`, within with `confidence`.
Zone zone_of(const Excess& excess, std::optional<double> adjusted_chance, double false_alarms,
             double confidence);

}  // namespace lockstep::analyzer
