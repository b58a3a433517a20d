#include "analyzer/diagnose/slow_place_words.h"

#include <fmt/format.h>

#include "analyzer/report/quantity.h"
#include "analyzer/stacks/slow_place.h"

namespace lockstep::analyzer {

std::string name_where_python_was(const FindingContext& context, const StepTable& steps,
                                  const RankLateness& late, LateReason& reason) {
  const PlaceComparison found =
      compare_places(context.diagnosis.job, {late.rank, steps.ranks, steps.steps, late.cause_ns});
  if (!found.slow) return {};
  reason.evidence.push_back(fmt::format(
      "{} of {} at its Python's stack saw it in `{}`, {} longer in a step than the others' (of "
      "whom {} saw it there, in the median)",
      format_count(found.slow->looks), format_plural(found.slow->all_looks, "look"), found.slow->place,
      format_duration(found.slow->excess_ns), format_plural(found.slow->others, "look")));
  return fmt::format("`{}`", found.slow->place);
}

}  // namespace lockstep::analyzer
