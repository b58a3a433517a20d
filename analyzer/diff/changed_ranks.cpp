#include "analyzer/diff/changed_ranks.h"

#include <algorithm>
#include <utility>

namespace lockstep::analyzer {
namespace {

constexpr double kMost = 0.5, kLittle = 0.25;

// What most of the change of these ranks' own work is.
std::optional<Cause> cause_of(const std::vector<const RankDiff*>& ranks, double sign) {
  double all = 0;
  std::pair<double, Cause> greatest{0, Cause::other};
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
    double change = 0;
    for (const RankDiff* rank : ranks) change += sign * static_cast<double>(rank->causes[cause].change_ns());
    if (!is_own(static_cast<Cause>(cause))) continue;
    all += change;
    greatest = std::max(greatest, {change, static_cast<Cause>(cause)},
                        [](const auto& x, const auto& y) { return x.first < y.first; });
  }
  return greatest.first > kMost * all ? std::optional(greatest.second) : std::nullopt;
}

}  // namespace

void find_changed_ranks(RunsDiff& diff) {
  if (!diff.waits_known || diff.ranks.size() < 2 || !diff.spread.is_beyond_chance()) return;
  const double sign = diff.step.change_ns() < 0 ? -1 : 1;
  const double whole = sign * static_cast<double>(diff.step.change_ns());
  std::vector<const RankDiff*> changed;
  for (const RankDiff& rank : diff.ranks) {
    const double own = sign * static_cast<double>(rank.own.change_ns());
    const double step = sign * static_cast<double>(rank.step.change_ns());
    if (own >= kMost * whole && rank.own_spread.is_beyond_chance(diff.ranks.size()))
      changed.push_back(&rank);
    else if (own >= kMost * whole || step - own < kMost * whole ||
             (own > kLittle * whole && rank.own_spread.is_beyond_chance(diff.ranks.size())))
      return;
  }
  if (changed.empty() || 2 * changed.size() > diff.ranks.size()) return;
  for (const RankDiff* rank : changed) diff.changed_ranks.push_back(rank->rank);
  diff.their_cause = cause_of(changed, sign);
}

}  // namespace lockstep::analyzer
