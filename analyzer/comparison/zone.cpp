#include "analyzer/comparison/zone.h"

#include <algorithm>
#include <cmath>

namespace lockstep::analyzer {
namespace {

// What worsens turned upwards, so that both directions are one.
Sample turned(Sample sample, double sign) {
  sample.mean *= sign;
  return sample;
}

// Above 0 where the head, turned by `sign`, is more than what it is held to.
Excess excess(const Sample& head, const Sample& base, double sign, const Tolerance& tolerance) {
  Excess excess{.head = turned(head, sign), .base = turned(base, sign)};
  if (is_relative(tolerance, base.mean)) {
    excess.factor = factor_of(tolerance, excess.base.mean);
  } else {
    excess.allowance = tolerance.floor;
  }
  excess.beyond = difference(excess.head, excess.base, excess.factor);
  excess.beyond.estimate -= excess.allowance;
  excess.limit = excess.factor * base.mean + sign * excess.allowance;
  return excess;
}

}  // namespace

double sign_of(Direction direction) {
  return direction == Direction::lower_is_better ? 1 : -1;
}

bool is_relative(const Tolerance& tolerance, double mean) {
  return std::abs(mean) * tolerance.relative > tolerance.floor;
}

double factor_of(const Tolerance& tolerance, double turned_mean) {
  return turned_mean > 0 ? 1 + tolerance.relative : 1 - tolerance.relative;
}

Excess excess_over(const Sample& head, const Sample& base, Direction direction, const Tolerance& tolerance) {
  return excess(head, base, sign_of(direction), tolerance);
}

Excess gain_over(const Sample& head, const Sample& base, Direction direction, const Tolerance& tolerance) {
  return excess(head, base, -sign_of(direction), tolerance);
}

Excess excess_over(const Sample& head, double bound, Direction direction, const Tolerance& tolerance) {
  const double sign = sign_of(direction);
  Excess excess{.limit = bound + sign * std::max(std::abs(bound) * tolerance.relative, tolerance.floor),
                .head = turned(head, sign)};
  excess.allowance = sign * excess.limit;
  excess.beyond = difference_from(excess.head, excess.allowance);
  return excess;
}

const char* to_string(Zone zone) {
  switch (zone) {
    case Zone::worse:
      return "worse";
    case Zone::within:
      return "within";
    case Zone::undecided:
      break;
  }
  return "undecided";
}

Zone zone_of(const Excess& excess, std::optional<double> adjusted_chance, double false_alarms,
             double confidence) {
  if (!adjusted_chance) return Zone::undecided;
  if (excess.beyond.estimate > 0) return *adjusted_chance <= false_alarms ? Zone::worse : Zone::undecided;
  // Without spread and at the limit exactly: no worse than tolerated.
  if (*excess.beyond.standard_error == 0) return Zone::within;
  return *upper_bound(excess.beyond, confidence) <= 0 ? Zone::within : Zone::undecided;
}

}  // namespace lockstep::analyzer
