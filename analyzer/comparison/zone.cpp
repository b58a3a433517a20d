#include "analyzer/comparison/zone.h"

#include <algorithm>
#include <cmath>

namespace lockstep::analyzer {
namespace {

double sign_of(Direction direction) {
  return direction == Direction::lower_is_better ? 1 : -1;
}

// What worsens turned upwards, so that both directions are one.
Sample turned(Sample sample, double sign) {
  sample.mean *= sign;
  return sample;
}

bool relative_counts(double held_to, const Tolerance& tolerance) {
  return std::abs(held_to) * tolerance.relative > tolerance.floor;
}

// head - factor * base - allowance, all turned so that more is what is asked for.
Excess beyond(const Sample& head, const Sample& base, double factor, double allowance, double sign) {
  Excess excess{.beyond = difference(turned(head, sign), turned(base, sign), factor), .factor = factor};
  excess.beyond.estimate -= allowance;
  excess.limit = factor * base.mean + sign * allowance;
  return excess;
}

}  // namespace

Excess excess_over(const Sample& head, const Sample& base, Direction direction, const Tolerance& tolerance) {
  const double sign = sign_of(direction);
  // A share of the baseline's mean is as uncertain as that.
  if (relative_counts(base.mean, tolerance))
    return beyond(head, base, base.mean * sign > 0 ? 1 + tolerance.relative : 1 - tolerance.relative, 0,
                  sign);
  return beyond(head, base, 1, tolerance.floor, sign);
}

Excess gain_over(const Sample& head, const Sample& base, Direction direction, const Tolerance& tolerance) {
  const double sign = -sign_of(direction);
  if (relative_counts(base.mean, tolerance))
    return beyond(head, base, base.mean * sign > 0 ? 1 + tolerance.relative : 1 - tolerance.relative, 0,
                  sign);
  return beyond(head, base, 1, tolerance.floor, sign);
}

Excess excess_over(const Sample& head, double bound, Direction direction, const Tolerance& tolerance) {
  const double sign = sign_of(direction);
  const double allowance = std::max(std::abs(bound) * tolerance.relative, tolerance.floor);
  Excess excess{.limit = bound + sign * allowance};
  excess.beyond = difference_from(turned(head, sign), sign * excess.limit);
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

Zone zone_of(const Excess& excess, std::optional<double> adjusted_chance, double confidence) {
  if (!adjusted_chance) return Zone::undecided;
  if (excess.beyond.estimate > 0) return *adjusted_chance <= 1 - confidence ? Zone::worse : Zone::undecided;
  // Without spread and at the limit exactly: no worse than tolerated.
  if (*excess.beyond.standard_error == 0) return Zone::within;
  return *upper_bound(excess.beyond, confidence) <= 0 ? Zone::within : Zone::undecided;
}

}  // namespace lockstep::analyzer
