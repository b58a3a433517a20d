#include "analyzer/align/solve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "analyzer/align/clock_tree.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

// A correction of one piece of one clock is one unknown: correction(earlier) − correction(later) ≤ most.
struct Constraint {
  std::uint32_t earlier = 0;
  std::uint32_t later = 0;
  double most = 0;
};

constexpr double kOpen = std::numeric_limits<double>::infinity();

struct Corrections {
  std::vector<double> least, most;  // by unknown; infinite where nothing bounds it
  bool consistent = true;
};

class System {
 public:
  System(const ClockProblem& problem, const ClockTree& tree) : tree_(tree) {
    first_unknown_.push_back(0);
    for (const TreeClock& clock : tree.clocks())
      first_unknown_.push_back(first_unknown_.back() + static_cast<std::uint32_t>(clock.pieces.size()));
    for (const Precedence& precedence : problem.precedences) add(precedence);
    join();
  }

  std::uint32_t unknown(std::uint32_t clock, std::uint32_t piece) const {
    return first_unknown_[clock] + piece;
  }

  // Bellman and Ford, both ways from the reference at once.
  Corrections solve(std::uint32_t reference, const std::stop_token& stop) const {
    Corrections result;
    result.most.assign(first_unknown_.back(), kOpen);
    result.least.assign(first_unknown_.back(), -kOpen);
    result.most[unknown(reference, 0)] = result.least[unknown(reference, 0)] = 0;
    bool changed = true;
    for (std::size_t round = 0; changed && round <= first_unknown_.back(); ++round) {
      throw_if_stopped(stop);
      changed = false;
      for (const Constraint& constraint : constraints_) {
        const double most = result.most[constraint.later] + constraint.most;
        if (most < result.most[constraint.earlier]) result.most[constraint.earlier] = most, changed = true;
        const double least = result.least[constraint.earlier] - constraint.most;
        if (least > result.least[constraint.later]) result.least[constraint.later] = least, changed = true;
      }
    }
    // Still changing: a circle of bounds that none can keep.
    result.consistent = !changed;
    for (std::size_t i = 0; i < result.most.size(); ++i)
      if (result.least[i] > result.most[i]) result.consistent = false;
    return result;
  }

 private:
  void add(const Precedence& precedence) {
    if (!tree_.clocks()[precedence.earlier_clock].reached || !tree_.clocks()[precedence.later_clock].reached)
      return;
    const Mapped earlier = tree_.map(precedence.earlier_clock, precedence.earlier);
    const Mapped later = tree_.map(precedence.later_clock, precedence.later);
    if (earlier.unsure || later.unsure) return;
    // Each of the two readings was rounded to a nanosecond on its way.
    constexpr double kRounding = 2;
    constraints_.push_back(
        {unknown(precedence.earlier_clock, earlier.piece), unknown(precedence.later_clock, later.piece),
         static_cast<double>(later.time - earlier.time) + earlier.doubt + later.doubt + kRounding});
  }

  // Of all constraints between the same two unknowns the tightest.
  void join() {
    std::sort(constraints_.begin(), constraints_.end(), [](const Constraint& a, const Constraint& b) {
      return std::tie(a.earlier, a.later, a.most) < std::tie(b.earlier, b.later, b.most);
    });
    const auto last =
        std::unique(constraints_.begin(), constraints_.end(), [](const Constraint& a, const Constraint& b) {
          return a.earlier == b.earlier && a.later == b.later;
        });
    constraints_.erase(last, constraints_.end());
  }

  const ClockTree& tree_;
  std::vector<std::uint32_t> first_unknown_;  // by clock
  std::vector<Constraint> constraints_;
};

// Where a clock's line, or that of one it goes through, begins anew: readings of the clock itself.
std::vector<Nanoseconds> beginnings(const ClockTree& tree, std::uint32_t clock, std::uint32_t reference) {
  const std::vector<TreePiece>& pieces = tree.clocks()[clock].pieces;
  std::vector<Nanoseconds> result;
  result.reserve(pieces.size());
  for (const TreePiece& piece : pieces) result.push_back(piece.to_parent.from);
  const std::uint32_t parent = tree.clocks()[clock].parent;
  if (clock == reference || parent == reference) return result;
  for (const Nanoseconds of_parent : beginnings(tree, parent, reference)) {
    for (const TreePiece& piece : pieces) {
      const Nanoseconds own = of_parent - piece.to_parent.offset;
      if (own > piece.extent.begin && own < piece.extent.end) result.push_back(own);
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

SolvedClock describe(const ClockTree& tree, const ClockProblem& problem, const System& system,
                     const Corrections& corrections, std::uint32_t clock) {
  SolvedClock solved;
  const std::vector<TreePiece>& pieces = tree.clocks()[clock].pieces;
  const std::vector<Nanoseconds> from = beginnings(tree, clock, problem.reference);
  std::vector<ClockMap::Piece> lines;
  double uncertainty = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Nanoseconds end =
        i + 1 < from.size() ? from[i + 1] - 1 : std::max(from[i], pieces.back().extent.end);
    const std::uint32_t own = tree.map(clock, from[i]).piece;
    const std::uint32_t unknown = system.unknown(clock, own);
    // Between two settings of a clock there may be too little to bound it: its neighbours hold there, in
    // doubt.
    if (std::isinf(corrections.most[unknown]) || std::isinf(corrections.least[unknown])) continue;
    const double half = (corrections.most[unknown] - corrections.least[unknown]) / 2;
    const Nanoseconds anchor = std::clamp(pieces[own].middle, from[i], end);
    ClockMap::Piece line;
    line.from = from[i];
    line.anchor = anchor;
    line.sure_until = std::min(end, pieces[own].sure_until);
    line.offset = tree.map(clock, anchor).time - anchor + std::llround(corrections.least[unknown] + half);
    line.rate = tree.map(clock, anchor).rate;
    lines.push_back(line);
    uncertainty =
        std::max({uncertainty, half + tree.map(clock, from[i]).doubt, half + tree.map(clock, end).doubt});
  }
  if (lines.empty()) return solved;
  solved.related = true;
  solved.uncertainty_ns = static_cast<std::int64_t>(std::ceil(uncertainty));
  solved.to_reference = ClockMap(std::move(lines));
  return solved;
}

}  // namespace

ClockMap::ClockMap(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  for (std::size_t i = 1; i < pieces_.size(); ++i) {
    Piece &before = pieces_[i - 1], &piece = pieces_[i];
    piece.floor = std::max(before.floor, along(before, std::min(before.sure_until, piece.from - 1)));
    before.ceiling = std::max(piece.floor, along(piece, piece.from));
  }
}

Nanoseconds ClockMap::along(const Piece& piece, Nanoseconds reading) {
  const std::int64_t gained =
      piece.rate == 0 ? 0 : std::llround(piece.rate * static_cast<double>(reading - piece.anchor));
  return reading + piece.offset + gained;
}

Nanoseconds ClockMap::operator()(Nanoseconds reading) const {
  const auto next = std::upper_bound(pieces_.begin() + 1, pieces_.end(), reading,
                                     [](Nanoseconds time, const Piece& piece) { return time < piece.from; });
  const Piece& piece = *(next - 1);
  return std::clamp(along(piece, reading), piece.floor, piece.ceiling);
}

bool ClockMap::is_identity() const {
  return std::all_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.offset == 0 && piece.rate == 0; });
}

ClockSolution solve_clocks(const ClockProblem& problem, const std::stop_token& stop) {
  ClockSolution solution;
  solution.clocks.resize(problem.spans.size());
  const ClockTree tree(problem);
  const System system(problem, tree);
  const Corrections corrections = system.solve(problem.reference, stop);
  solution.consistent = corrections.consistent;
  if (solution.consistent) {
    for (std::uint32_t clock = 0; clock < problem.spans.size(); ++clock)
      solution.clocks[clock] = describe(tree, problem, system, corrections, clock);
  }
  solution.clocks[problem.reference] = {true, {}, 0};
  return solution;
}

}  // namespace lockstep::analyzer
