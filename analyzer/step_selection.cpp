#include "analyzer/step_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

namespace lockstep::analyzer {

Status check_selection(const StepSelection& selection, const std::vector<std::int64_t>& present) {
  if (!selection.any()) return {};
  if (std::any_of(present.begin(), present.end(), [&](std::int64_t step) { return selection.holds(step); }))
    return {};
  const std::string asked =
      fmt::format("steps {} to {}", selection.first ? fmt::to_string(*selection.first) : "first",
                  selection.last ? fmt::to_string(*selection.last) : "last");
  if (present.empty())
    return Error{fmt::format("{}: the trace has no step marks; analyze it without a selection", asked)};
  if (present.size() <= 20)
    return Error{
        fmt::format("{}: no rank has them; steps in the trace: {}", asked, fmt::join(present, ", "))};
  return Error{fmt::format("{}: no rank has them; the trace has {} steps, {} to {}", asked, present.size(),
                           present.front(), present.back())};
}

}  // namespace lockstep::analyzer
