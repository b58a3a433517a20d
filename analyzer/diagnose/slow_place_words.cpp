#include "analyzer/diagnose/slow_place_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/lateness/core_waits.h"
#include "analyzer/report/quantity.h"
#include "analyzer/stacks/slow_place.h"

namespace lockstep::analyzer {

std::string name_where_python_was(const FindingContext& context, const StepTable& steps,
                                  const RankLateness& late, LateReason& reason) {
  if (is_late_by_idling(steps, late)) {
    // The others are at the same time in a call that waits for it: in which line says nothing.
    const std::optional<CommonPlace> place =
        place_of_idling(context.diagnosis.job, context.scheduled.idle(), late.rank);
    if (!place) return {};
    reason.evidence.push_back(
        fmt::format("{} of {} at its Python stack, while others waited for it and it did "
                    "nothing, saw it in `{}`",
                    format_count(place->looks), format_plural(place->all_looks, "look"), place->place));
    return fmt::format("`{}`", place->place);
  }
  const PlaceComparison found =
      compare_places(context.diagnosis.job, {late.rank, steps.ranks, steps.steps, late.cause_ns});
  if (!found.slow) return {};
  reason.evidence.push_back(
      fmt::format("{} of {} at its Python stack saw it in `{}`, where it is {} longer in a step than the "
                  "others; their median was seen {} {}",
                  format_count(found.slow->looks), format_plural(found.slow->all_looks, "look"),
                  found.slow->place, format_duration(found.slow->excess_ns),
                  found.slow->is_line ? "at that line" : "there", format_plural(found.slow->others, "time")));
  return fmt::format("`{}`", found.slow->place);
}

std::string how_to_name_it(const Job& job) {
  const bool looked = std::any_of(job.ranks.begin(), job.ranks.end(), [](const RankTrace& rank) {
    return std::any_of(rank.host_ranges.begin(), rank.host_ranges.end(),
                       [](const HostRange& range) { return range.kind == HostKind::python_place; });
  });
  return looked ? "`lockstep record --operators` tells PyTorch's operators and modules; looks at Python "
                  "stacks (`--stacks 20`) "
                  "show no one line, more of them may (`--stacks 100`)"
                : "`lockstep record` (with `--stacks 20`, its default) names the line of Python";
}

}  // namespace lockstep::analyzer
