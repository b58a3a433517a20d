#include "analyzer/align/clock_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "analyzer/align/offset_fit.h"

namespace lockstep::analyzer {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

Pair pair_of(const Precedence& precedence) {
  return std::minmax({precedence.earlier_clock, precedence.later_clock});
}

// What the precedences between a clock and another say of the other's reading minus its own.
std::vector<OffsetBound> bounds_of(std::uint32_t clock, std::span<const Precedence> between) {
  std::vector<OffsetBound> bounds;
  bounds.reserve(between.size());
  for (const Precedence& precedence : between) {
    if (precedence.earlier_clock == clock) {
      bounds.push_back({precedence.earlier, precedence.later - precedence.earlier, true});
    } else {
      bounds.push_back({precedence.later, precedence.earlier - precedence.later, false});
    }
  }
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const OffsetBound& a, const OffsetBound& b) { return a.at < b.at; });
  return bounds;
}

// The middle of the offsets that the bounds leave at `anchor` for a line of this rate; the one there is,
// where they leave the other side open.
std::int64_t offset_at(Nanoseconds anchor, double rate, std::span<const OffsetBound> bounds) {
  const std::int64_t base = bounds.front().offset;
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  for (const OffsetBound& bound : bounds) {
    const double offset =
        static_cast<double>(bound.offset - base) - rate * static_cast<double>(bound.at - anchor);
    if (bound.upper) {
      most = std::min(most, offset);
    } else {
      least = std::max(least, offset);
    }
  }
  const double middle = std::isinf(least) ? most : std::isinf(most) ? least : least + (most - least) / 2;
  return base + std::llround(middle);
}

}  // namespace

ClockTree::ClockTree(const ClockProblem& problem)
    : reference_(problem.reference), clocks_(problem.spans.size()), by_pair_(problem.precedences) {
  std::stable_sort(by_pair_.begin(), by_pair_.end(),
                   [](const Precedence& a, const Precedence& b) { return pair_of(a) < pair_of(b); });
  for (std::size_t i = 0; i < by_pair_.size(); ++i)
    if (i == 0 || pair_of(by_pair_[i]) != pair_of(by_pair_[i - 1])) first_of_pair_.push_back(i);
  first_of_pair_.push_back(by_pair_.size());

  clocks_[reference_].reached = true;
  clocks_[reference_].parent = reference_;
  clocks_[reference_].pieces.emplace_back();
  find_parents(problem);
}

// The nearest first; a pair that bounds one side alone is a last resort.
void ClockTree::find_parents(const ClockProblem& problem) {
  constexpr std::uint32_t kTwoSided = 1, kOneSided = 1'000'000;
  struct Neighbour {
    std::uint32_t clock = 0, cost = 0;
    std::size_t pair = 0;
  };
  std::vector<std::vector<Neighbour>> neighbours(clocks_.size());
  for (std::size_t pair = 0; pair + 1 < first_of_pair_.size(); ++pair) {
    const auto begin = by_pair_.begin() + static_cast<std::ptrdiff_t>(first_of_pair_[pair]);
    const auto end = by_pair_.begin() + static_cast<std::ptrdiff_t>(first_of_pair_[pair + 1]);
    const auto [one, other] = pair_of(*begin);
    const auto forward = [one = one](const Precedence& p) { return p.earlier_clock == one; };
    const bool two_sided = std::any_of(begin, end, forward) && !std::all_of(begin, end, forward);
    const std::uint32_t cost = two_sided ? kTwoSided : kOneSided;
    neighbours[one].push_back({other, cost, pair});
    neighbours[other].push_back({one, cost, pair});
  }
  constexpr std::uint64_t kFar = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> distance(clocks_.size(), kFar);
  std::vector<std::size_t> pair_to_parent(clocks_.size(), 0);
  using Entry = std::pair<std::uint64_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distance[reference_] = 0;
  queue.push({0, reference_});
  while (!queue.empty()) {
    const auto [far, clock] = queue.top();
    queue.pop();
    if (far > distance[clock]) continue;
    if (clock != reference_) {
      const std::size_t pair = pair_to_parent[clock];
      fit(clock, problem,
          std::span(by_pair_).subspan(first_of_pair_[pair], first_of_pair_[pair + 1] - first_of_pair_[pair]));
    }
    for (const Neighbour& next : neighbours[clock]) {
      if (far + next.cost >= distance[next.clock]) continue;
      distance[next.clock] = far + next.cost;
      clocks_[next.clock].parent = clock;
      pair_to_parent[next.clock] = next.pair;
      queue.push({distance[next.clock], next.clock});
    }
  }
}

void ClockTree::fit(std::uint32_t clock, const ClockProblem& problem, std::span<const Precedence> between) {
  TreeClock& fitted = clocks_[clock];
  fitted.reached = true;
  const std::vector<OffsetBound> bounds = bounds_of(clock, between);
  const std::vector<FittedPiece> pieces = fit_offset(bounds, problem.most_rate);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::span<const OffsetBound> of_piece = std::span(bounds).subspan(pieces[i].first, pieces[i].count);
    TreePiece piece;
    // No drift, where none is as good an answer as any.
    const double rate = std::clamp(0.0, pieces[i].least_rate, pieces[i].most_rate);
    piece.rate_doubt = std::max(pieces[i].most_rate - rate, rate - pieces[i].least_rate);
    piece.middle = std::midpoint(of_piece.front().at, of_piece.back().at);
    piece.extent.begin =
        i == 0 ? std::min(problem.spans[clock].begin, bounds.front().at) : of_piece.front().at;
    piece.extent.end = i + 1 == pieces.size() ? std::max(problem.spans[clock].end, bounds.back().at)
                                              : bounds[pieces[i + 1].first].at;
    piece.sure_until = i + 1 == pieces.size() ? piece.extent.end : of_piece.back().at;
    piece.to_parent = {piece.extent.begin, piece.middle, offset_at(piece.middle, rate, of_piece), rate};
    fitted.pieces.push_back(piece);
  }
}

Mapped ClockTree::map(std::uint32_t clock, Nanoseconds reading) const {
  Mapped mapped;
  mapped.time = reading;
  for (bool first = true; clock != reference_; clock = clocks_[clock].parent, first = false) {
    const std::vector<TreePiece>& pieces = clocks_[clock].pieces;
    const auto next = std::upper_bound(
        pieces.begin() + 1, pieces.end(), mapped.time,
        [](Nanoseconds time, const TreePiece& piece) { return time < piece.to_parent.from; });
    const TreePiece& piece = *(next - 1);
    if (first) mapped.piece = static_cast<std::uint32_t>(next - 1 - pieces.begin());
    mapped.unsure = mapped.unsure || (mapped.time > piece.sure_until && next != pieces.end());
    const auto from_middle = static_cast<double>(mapped.time - piece.middle);
    mapped.doubt += piece.rate_doubt * std::abs(from_middle);
    mapped.rate += piece.to_parent.rate * (1 + mapped.rate);
    mapped.time += piece.to_parent.offset + std::llround(piece.to_parent.rate * from_middle);
  }
  return mapped;
}

}  // namespace lockstep::analyzer
