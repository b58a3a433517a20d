#include "analyzer/steady_view.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

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

}  // namespace lockstep::analyzer
