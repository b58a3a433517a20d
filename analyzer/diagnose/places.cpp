#include "analyzer/diagnose/places.h"

#include <algorithm>

#include "analyzer/diagnose/finding_kinds.h"

namespace lockstep::analyzer {
namespace {

// How much of the cause's time an operation takes, of the rank that loses most in it.
struct Loss {
  std::int64_t ns = 0;
  std::int32_t rank = 0;
};

// What a root stands in a broadcast before its last receiver has come is transfer by definition, and moves
// nothing.
Loss loss_in(const CollectiveReport& collective, Cause cause, const RootWaits& roots) {
  Loss most;
  for (const CollectiveRank& rank : collective.ranks) {
    if (!rank.hidden_known) continue;
    const std::int64_t ns = cause == Cause::transfer ? rank.exposed_transfer_ns() - roots.in(rank)
                                                     : rank.wait_ns - std::min(rank.wait_ns, rank.hidden_ns);
    if (ns > most.ns) most = {ns, rank.rank};
  }
  return most;
}

// An operation of a step says more than one of start-up, however much longer that one took: outside of steps
// is looked where no step has any.
template <class Counts>
std::optional<FindingPlace> worst_operation(const Finding& finding, const FindingContext& context,
                                            Counts counts) {
  const Report& report = context.report;
  const CollectiveReport* worst = nullptr;
  Loss most;
  // What gathers parameters is seen in an all-gather, however long another operation takes.
  const FindingKind* const kind = find_finding_kind(finding.code);
  const Operation operation = kind == nullptr ? Operation::unknown : kind->bucket_operation;
  const bool has_any = std::ranges::any_of(report.collectives, [&](const CollectiveReport& collective) {
    return collective.operation == operation;
  });
  for (const CollectiveReport& collective : report.collectives) {
    if (operation != Operation::unknown && has_any && collective.operation != operation) continue;
    if (finding.rank && *finding.cause == Cause::barrier_wait && collective.last_arriver != finding.rank)
      continue;
    if (*finding.cause == Cause::barrier_wait && context.scheduled.contains(collective)) continue;
    if (!counts(collective)) continue;
    const Loss loss = loss_in(collective, *finding.cause, context.roots);
    if (loss.ns <= most.ns) continue;
    most = loss;
    worst = &collective;
  }
  if (worst == nullptr) return std::nullopt;
  FindingPlace place;
  place.rank = most.rank;
  place.step = worst->step;
  place.collective = worst->id;
  place.begin_ns = worst->ranks.front().arrival_ns;
  place.end_ns = worst->ranks.front().end_ns;
  for (const CollectiveRank& rank : worst->ranks) {
    place.begin_ns = std::min(place.begin_ns, rank.arrival_ns);
    place.end_ns = std::max(place.end_ns, rank.end_ns);
  }
  return place;
}

std::optional<FindingPlace> worst_step(const Finding& finding, const Report& report) {
  const StepReport* worst = nullptr;
  for (const StepReport& step : report.steps) {
    if (!step.measures.known) continue;
    const std::int64_t ns = step.measures.partition[*finding.cause];
    if (ns > 0 && (worst == nullptr || ns > worst->measures.partition[*finding.cause])) worst = &step;
  }
  if (worst == nullptr) return std::nullopt;
  return FindingPlace{worst->rank, worst->step, std::nullopt, worst->begin_ns, worst->end_ns};
}

// Of ranks that were recorded whole and have no steps.
std::optional<FindingPlace> longest_stretch(const Finding& finding, const FindingContext& context) {
  const Report& report = context.report;
  const auto cause = static_cast<std::size_t>(*finding.cause);
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < context.diagnosis.longest.size() && i < report.ranks.size(); ++i) {
    const Measures& m = report.ranks[i].measures;
    const Interval& stretch = context.diagnosis.longest[i][cause];
    if (!m.known || stretch.begin >= stretch.end || (finding.rank && *finding.rank != report.ranks[i].rank))
      continue;
    if (!worst || m.partition.ns[cause] > report.ranks[*worst].measures.partition.ns[cause]) worst = i;
  }
  if (!worst) return std::nullopt;
  const Interval& stretch = context.diagnosis.longest[*worst][cause];
  return FindingPlace{report.ranks[*worst].rank, std::nullopt, std::nullopt,
                      stretch.begin - report.origin_aligned_ns, stretch.end - report.origin_aligned_ns};
}

}  // namespace

std::optional<FindingPlace> place_of(const Finding& finding, PointsAt points_at,
                                     const FindingContext& context) {
  if (points_at == PointsAt::place_of_its_own || finding.place) return finding.place;
  if (points_at == PointsAt::nothing || !finding.cause) return std::nullopt;
  if (points_at == PointsAt::worst_operation) {
    for (const bool in_steps : {true, false}) {
      const auto counts = [in_steps](const CollectiveReport& collective) {
        return !in_steps || collective.step.has_value();
      };
      if (const std::optional<FindingPlace> place = worst_operation(finding, context, counts)) return place;
    }
  }
  if (!context.report.steps.empty()) return worst_step(finding, context.report);
  return longest_stretch(finding, context);
}

std::optional<FindingPlace> worst_operation_of(const Finding& finding, const FindingContext& context,
                                               const StepTable& steps) {
  if (!finding.cause) return std::nullopt;
  return worst_operation(finding, context, [&steps](const CollectiveReport& collective) {
    return collective.step && std::ranges::binary_search(steps.steps, *collective.step);
  });
}

}  // namespace lockstep::analyzer
