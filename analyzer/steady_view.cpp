#include "analyzer/steady_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// Moves those that don't count to the end of `rest`; both stay in order.
template <class Row, class Counts>
void split(std::vector<Row>& rows, std::vector<Row>& rest, const Counts& counts) {
  const auto first_out = std::stable_partition(rows.begin(), rows.end(), counts);
  rest.assign(std::make_move_iterator(first_out), std::make_move_iterator(rows.end()));
  rows.erase(first_out, rows.end());
}

template <class Row, class Before>
void merge(std::vector<Row>& rows, std::vector<Row> rest, const Before& before) {
  const auto middle = static_cast<std::ptrdiff_t>(rows.size());
  rows.insert(rows.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  std::inplace_merge(rows.begin(), rows.begin() + middle, rows.end(), before);
}

struct Communicated {
  std::int64_t communication_ns = 0, window_ns = 0;
};
template <class Rows, class Counts>
Communicated sum_of(const Rows& rows, const Counts& counts) {
  Communicated sum;
  for (const auto& row : rows) {
    if (!row.measures.known || !counts(row)) continue;
    sum.communication_ns = saturating_add(sum.communication_ns, row.measures.communication_ns);
    sum.window_ns = saturating_add(sum.window_ns, row.measures.window_ns);
  }
  return sum;
}

}  // namespace

NotSteady keep_steady(Report& report) {
  NotSteady rest;
  if (!report.steady || report.steady_only) return rest;
  const std::vector<std::int64_t>& steps = report.steady->steps;
  const auto counts = [&steps](std::int64_t step) {
    return std::binary_search(steps.begin(), steps.end(), step);
  };
  split(report.steps, rest.steps, [&](const StepReport& step) { return counts(step.step); });
  split(report.collectives, rest.collectives,
        [&](const CollectiveReport& collective) { return collective.step && counts(*collective.step); });
  rest.ranks = std::exchange(report.ranks, std::move(report.steady->ranks));
  report.steady_only = true;
  return rest;
}

std::vector<std::vector<std::uint32_t>> indices_left(std::vector<std::vector<std::uint32_t>> collective_of,
                                                     const Report& report) {
  std::vector<std::uint32_t> left;
  for (std::size_t i = 0; i < report.collectives.size(); ++i) {
    const auto id = static_cast<std::size_t>(report.collectives[i].id);  // its index among all
    if (id >= left.size()) left.resize(id + 1, kNone);
    left[id] = static_cast<std::uint32_t>(i);
  }
  for (std::vector<std::uint32_t>& of_rank : collective_of)
    for (std::uint32_t& index : of_rank) index = index < left.size() ? left[index] : kNone;
  return collective_of;
}

void restore(NotSteady rest, Report& report) {
  if (!report.steady || !report.steady_only) return;
  merge(report.steps, std::move(rest.steps), [](const StepReport& a, const StepReport& b) {
    return std::tie(a.step, a.rank) < std::tie(b.step, b.rank);
  });
  merge(report.collectives, std::move(rest.collectives),
        [](const CollectiveReport& a, const CollectiveReport& b) { return a.id < b.id; });
  report.steady->ranks = std::exchange(report.ranks, std::move(rest.ranks));
  report.steady_only = false;
}

std::optional<Warning> communication_left_out(const Report& report) {
  if (!report.steady || report.steady_only) return std::nullopt;
  const auto recurs = [&report](const StepReport& step) {
    for (const StepsLeftOut& out : report.steady->left_out)
      if (out.first <= step.step && step.step <= out.last)
        return out.reason == "evaluation" || out.reason == "checkpoint";
    return false;
  };
  const Communicated steady = sum_of(report.steady->ranks, [](const RankReport&) { return true; });
  const Communicated left_out = sum_of(report.steps, recurs);
  constexpr std::int64_t kOfWindows = 100, kTimesAsMuch = 10;
  if (steady.communication_ns >= steady.window_ns / kOfWindows ||
      left_out.communication_ns < left_out.window_ns / kOfWindows ||
      left_out.communication_ns / kTimesAsMuch <= steady.communication_ns)
    return std::nullopt;
  return Warning{
      "communication_left_out",
      fmt::format("ranks communicate for {} in the steady steps, and for {} in steps that are left "
                  "out of the figures: --all-steps includes them",
                  format_duration(steady.communication_ns), format_duration(left_out.communication_ns)),
      kNoRank};
}

}  // namespace lockstep::analyzer
