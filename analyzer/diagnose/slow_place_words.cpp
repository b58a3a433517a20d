#include "analyzer/diagnose/slow_place_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/lateness/core_waits.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {

std::string describe_looks(const SlowPlace& place, std::string_view whose) {
  return fmt::format(
      "{} of {} at {} Python stack saw it in `{}`, where it is {} longer in a step than the others",
      format_count(place.looks), format_plural(place.all_looks, "look"), whose, place.place,
      format_duration(place.excess_ns));
}

std::string name_where_python_was(const FindingContext& context, const StepTable& steps,
                                  const RankLateness& late, LateReason& reason) {
  if (is_late_by_idling(steps, late)) {
    // Where it stood while others waited for it says more than where it is longer than they.
    if (const std::optional<CommonPlace> place =
            place_of_idling(context.diagnosis.job, context.scheduled.idle(), late.rank)) {
      reason.evidence.push_back(
          fmt::format("{} of {} at its Python stack, while others waited for it and it was in no "
                      "computation, saw it in `{}`",
                      format_count(place->looks), format_plural(place->all_looks, "look"), place->place));
      return fmt::format("`{}`", place->place);
    }
  }
  const PlaceComparison found =
      compare_places(context.diagnosis.job, {late.rank, steps.ranks, steps.steps, late.cause_ns});
  if (!found.slow) return {};
  reason.is_alone_there = found.slow->is_line || 4 * found.slow->others <= found.slow->looks;
  if (reason.is_alone_there) reason.alone_ns = found.slow->excess_ns;
  reason.evidence.push_back(fmt::format("{}; their median was seen {} {}", describe_looks(*found.slow, "its"),
                                        found.slow->is_line ? "at that line" : "in that function",
                                        format_plural(found.slow->others, "time")));
  return fmt::format("`{}`", found.slow->place);
}

bool has_operators(const Job& job) {
  return std::ranges::any_of(job.ranks, [](const RankTrace& rank) {
    return std::ranges::any_of(rank.host_ranges,
                               [](const HostRange& range) { return range.kind == HostKind::operation; });
  });
}

std::string how_to_name_it(const Job& job) {
  // A rank's looks in a second, at most, as they were taken.
  double looks = 0;
  for (const RankTrace& rank : job.ranks) {
    std::int64_t count = 0;
    Nanoseconds first = kUnknownTime, last = 0;
    for (const HostRange& range : rank.host_ranges) {
      if (range.kind != HostKind::python_place) continue;
      ++count;
      if (first == kUnknownTime) first = range.begin;
      last = std::max(last, range.end);
    }
    if (count > 1 && last > first)
      looks = std::max(looks, static_cast<double>(count) * 1e9 / static_cast<double>(last - first));
  }
  constexpr double kMany = 50;
  if (looks == 0) return "`lockstep record` (with `--stacks 20`, its default) names the line of Python";
  if (has_operators(job)) return "more looks at Python stacks (`--stacks 200`) may show a line";
  return std::string("`lockstep record --operators` tells PyTorch's operators and modules") +
         (looks < kMany ? ", and more looks at Python stacks (`--stacks 100`) may show a line" : "");
}

}  // namespace lockstep::analyzer
