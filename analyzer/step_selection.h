// Which steps an analysis was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"

namespace lockstep::analyzer {

struct StepSelection {
  std::optional<std::int64_t> first, last;  // both included
  bool any() const { return first || last; }
  bool holds(std::int64_t step) const { return (!first || step >= *first) && (!last || step <= *last); }
};

// An error that lists what there is, where no step of the trace (`present`, ascending) was asked for.
Status check_selection(const StepSelection& selection, const std::vector<std::int64_t>& present);

}  // namespace lockstep::analyzer
