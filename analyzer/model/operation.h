// What kinds of operations there are.
#pragma once

#include "trace/events/event.h"

namespace lockstep::analyzer {

// A message between two ranks, or the two sides of one together.
constexpr bool is_point_to_point(trace::Operation operation) {
  return operation == trace::Operation::send || operation == trace::Operation::recv ||
         operation == trace::Operation::send_recv;
}

}  // namespace lockstep::analyzer
