// The figures of a range as `lockstep analyze --range --json` names them, each in nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analyzer/report/report.h"

namespace lockstep::viewer {

struct RangeFigure {
  const char* name;  // "compute_ns"; of the nine causes "partition.transfer"
  const char* what;  // in words, without reference to docs/metrics.md
  // Absent where the document says null.
  std::optional<std::int64_t> (*of)(const analyzer::Measures& measures);
};
// All that lockstep.range/2 has in whole nanoseconds, in its order.
std::span<const RangeFigure> range_figures();

}  // namespace lockstep::viewer
