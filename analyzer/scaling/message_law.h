// How long a collective takes by its size: α + β · bytes, the model of Hockney (1994), fitted from the sizes
// that occur within runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/scaling/scale_run.h"

namespace lockstep::analyzer {

struct MessageLaw {
  Operation operation = Operation::unknown;
  std::int64_t ranks = 0;
  double alpha_ns = 0;          // of an empty message; not negative
  double beta_ns_per_byte = 0;  // 1 / bandwidth
  std::int64_t sizes = 0;       // different ones that it is fitted to
  std::int64_t smallest_bytes = 0, largest_bytes = 0;
  double worst_error = 0;  // of a size: |fitted - measured| / measured
};

// Of each operation and group size with three sizes or more, the largest at least four times the smallest;
// others can't tell latency from bandwidth. Errors are relative, so that small messages count as much as
// large ones. Nothing where times do not grow with sizes, or
// are off by more than three tenths. Of steady steps alone, where there are some.
std::vector<MessageLaw> message_laws(const std::vector<ScaleRun>& runs);

}  // namespace lockstep::analyzer
