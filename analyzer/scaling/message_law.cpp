#include "analyzer/scaling/message_law.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kLeastSizes = 3;
constexpr std::int64_t kLeastRange = 4;
constexpr double kMaxError = 0.3;  // beyond, the times do not follow such a law

using Sizes = std::map<std::int64_t, std::pair<double, double>>;  // bytes → Σ count · time, Σ count

struct Point {
  double bytes = 0, ns = 0;
};

// Least squares of (α + β x - y) / y.
std::pair<double, double> fitted(const std::vector<Point>& points) {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  for (const Point& point : points) {
    const double weight = 1 / (point.ns * point.ns);
    w += weight;
    wx += weight * point.bytes;
    wxx += weight * point.bytes * point.bytes;
    wy += weight * point.ns;
    wxy += weight * point.bytes * point.ns;
  }
  const double determinant = w * wxx - wx * wx;
  if (determinant <= 0) return {0, 0};
  const double alpha = (wy * wxx - wx * wxy) / determinant, beta = (w * wxy - wx * wy) / determinant;
  // Without latency the best line goes through 0.
  return alpha >= 0 ? std::pair{alpha, beta} : std::pair{0.0, wxy / wxx};
}

}  // namespace

std::vector<MessageLaw> message_laws(const std::vector<ScaleRun>& runs) {
  std::map<std::pair<Operation, std::int64_t>, Sizes> kinds;
  for (const ScaleRun& run : runs)
    for (const MessageTimes& message : run.messages) {
      if (message.median_ns <= 0) continue;
      auto& [sum, count] = kinds[{message.operation, message.ranks}][message.bytes];
      sum += message.median_ns * static_cast<double>(message.count);
      count += static_cast<double>(message.count);
    }
  std::vector<MessageLaw> laws;
  for (const auto& [kind, sizes] : kinds) {
    if (sizes.size() < kLeastSizes || sizes.rbegin()->first < kLeastRange * sizes.begin()->first) continue;
    std::vector<Point> points;
    for (const auto& [bytes, time] : sizes)
      points.push_back({static_cast<double>(bytes), time.first / time.second});
    const auto [alpha, beta] = fitted(points);
    if (beta <= 0) continue;
    double worst = 0;
    for (const Point& point : points)
      worst = std::max(worst, std::abs(alpha + beta * point.bytes - point.ns) / point.ns);
    if (worst > kMaxError) continue;
    laws.push_back({.operation = kind.first,
                    .ranks = kind.second,
                    .alpha_ns = alpha,
                    .beta_ns_per_byte = beta,
                    .sizes = static_cast<std::int64_t>(sizes.size()),
                    .smallest_bytes = sizes.begin()->first,
                    .largest_bytes = sizes.rbegin()->first,
                    .worst_error = worst});
  }
  return laws;
}

}  // namespace lockstep::analyzer
