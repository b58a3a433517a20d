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
      "{} of {} at its Python stack saw it in `{}`, where it is {} longer in a step than the "
      "others; their median was seen there {}",
      format_count(found.slow->looks), format_plural(found.slow->all_looks, "look"), found.slow->place,
      format_duration(found.slow->excess_ns), format_plural(found.slow->others, "time")));
  return fmt::format("`{}`", found.slow->place);
}

}  // namespace lockstep::analyzer
