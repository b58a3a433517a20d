#include "analyzer/scaling/speedup_law.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kLeastSizes = 5;

}  // namespace

double SpeedupLaw::at(double n) const {
  return n / (1 + contention * (n - 1) + coherency * n * (n - 1));
}

std::optional<double> SpeedupLaw::peak() const {
  if (coherency <= 0 || contention >= 1) return std::nullopt;
  return std::sqrt((1 - contention) / coherency);
}

std::optional<SpeedupLaw> speedup_law(std::span<const Capacity> sizes) {
  if (sizes.size() < kLeastSizes) return std::nullopt;
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
  for (const Capacity& size : sizes) {
    const double n = size.times_ranks, a = n - 1, b = n * (n - 1), y = n / size.capacity - 1;
    aa += a * a;
    ab += a * b;
    bb += b * b;
    ay += a * y;
    by += b * y;
  }
  const double determinant = aa * bb - ab * ab;
  if (aa <= 0 || determinant <= 0) return std::nullopt;
  SpeedupLaw law{.contention = (ay * bb - by * ab) / determinant,
                 .coherency = (aa * by - ab * ay) / determinant};
  // Neither can be negative: where one is, the other alone fits best.
  if (law.contention < 0) law = {.contention = 0, .coherency = std::max(0.0, by / bb)};
  if (law.coherency < 0) law = {.contention = std::max(0.0, ay / aa), .coherency = 0};
  for (const Capacity& size : sizes)
    law.worst_error =
        std::max(law.worst_error, std::abs(law.at(size.times_ranks) - size.capacity) / size.capacity);
  return law;
}

}  // namespace lockstep::analyzer
