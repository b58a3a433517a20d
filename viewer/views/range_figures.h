// The figures of a range as `lockstep analyze --range --json` names them, each in nanoseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "analyzer/report/report.h"

namespace lockstep::viewer {

struct RangeFigure {
  std::string name;  // "compute_ns"; of the nine causes "partition.transfer"
  const char* what;  // in words, without reference to docs/metrics.md
  // Absent where the document says null.
  std::function<std::optional<std::int64_t>(const analyzer::Measures& measures)> of;
};
// All that lockstep.range/2 has in whole nanoseconds, in its order.
std::span<const RangeFigure> range_figures();

}  // namespace lockstep::viewer
