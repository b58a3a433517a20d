#include "viewer/views/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "viewer/timeline/describe.h"
#include "viewer/timeline/rank_order.h"

namespace lockstep::viewer {

namespace {

using analyzer::Cause;
using analyzer::kCauseCount;

// Sums of quotients and remainders, so that nothing overflows.
class Mean {
 public:
  explicit Mean(std::int64_t count) : count_(count) {}
  void add(std::int64_t value) {
    whole_ += value / count_;
    rest_ += value % count_;
  }
  std::int64_t value() const { return whole_ + rest_ / count_; }

 private:
  std::int64_t count_, whole_ = 0, rest_ = 0;
};

// Means of means, each with the same weight.
StepMeans mean_of(const std::vector<const StepMeans*>& all) {
  StepMeans mean;
  if (all.empty()) return mean;
  const auto count = static_cast<std::int64_t>(all.size());
  Mean window(count);
  for (const StepMeans* each : all) window.add(each->window_ns);
  mean.window_ns = window.value();
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
    Mean part(count);
    for (const StepMeans* each : all) part.add(each->parts.ns[cause]);
    mean.parts.ns[cause] = part.value();
  }
  mean.ranks = all.front()->ranks;
  mean.waits_known = std::ranges::all_of(all, [](const StepMeans* each) { return each->waits_known; });
  return mean;
}

using OfRanks = std::map<std::int32_t, StepMeans>;  // one rank each, by number

std::map<std::int64_t, OfRanks> known_steps(const Scene& scene) {
  std::map<std::int64_t, OfRanks> steps;
  for (const analyzer::StepReport& step : scene.steps()) {
    const analyzer::Measures& m = step.measures;
    if (m.known) steps[step.step].emplace(step.rank, StepMeans{m.window_ns, m.partition, 1, m.waits_known});
  }
  return steps;
}

StepMeans mean_of(const OfRanks& ranks) {
  std::vector<const StepMeans*> all;
  all.reserve(ranks.size());
  for (const auto& [rank, means] : ranks) all.push_back(&means);
  StepMeans mean = mean_of(all);
  mean.ranks = static_cast<std::int64_t>(ranks.size());
  return mean;
}

// Those of `ranks` that the other has too; the rest goes to `left_out`.
OfRanks shared(const OfRanks& ranks, const OfRanks& other, std::set<std::int32_t>& left_out) {
  OfRanks both;
  for (const auto& [rank, means] : ranks) {
    if (other.contains(rank))
      both.emplace(rank, means);
    else
      left_out.insert(rank);
  }
  return both;
}

}  // namespace

std::optional<StepMeans> step_means(const Scene& scene, std::int64_t step) {
  const auto steps = known_steps(scene);
  const auto found = steps.find(step);
  return found == steps.end() ? std::nullopt : std::optional(mean_of(found->second));
}

RunDiff compare(const Scene& a, const Scene& b) {
  RunDiff diff;
  const auto of_a = known_steps(a), of_b = known_steps(b);
  if (of_a.empty() || of_b.empty()) {
    diff.why_empty = of_a.empty() && of_b.empty() ? "neither run has steps"
                     : of_a.empty()               ? "the first run has no steps"
                                                  : "the second run has no steps";
    return diff;
  }
  std::set<std::int32_t> left_out;
  const bool same_size = a.report().world_size == b.report().world_size;
  const auto add = [&](const auto& own, const auto& other) {
    const bool share = same_size && std::ranges::any_of(own.second, [&other](const auto& rank) {
                         return other.second.contains(rank.first);
                       });
    diff.steps.push_back({own.first, other.first,
                          mean_of(share ? shared(own.second, other.second, left_out) : own.second),
                          mean_of(share ? shared(other.second, own.second, left_out) : other.second)});
  };
  for (const auto& own : of_a) {
    const auto other = of_b.find(own.first);
    if (other != of_b.end()) add(own, *other);
  }
  // Numbers that share nothing (one run went on from the other's checkpoint): the n-th beside the n-th.
  if (diff.steps.empty()) {
    diff.by_number = false;
    auto other = of_b.begin();
    for (auto own = of_a.begin(); own != of_a.end() && other != of_b.end(); ++own, ++other) add(*own, *other);
  }
  diff.ranks_left_out.assign(left_out.begin(), left_out.end());
  std::vector<const StepMeans*> all_a, all_b;
  for (const StepPair& pair : diff.steps) {
    all_a.push_back(&pair.a);
    all_b.push_back(&pair.b);
  }
  diff.a = mean_of(all_a);
  diff.b = mean_of(all_b);
  return diff;
}

StepAlignment::StepAlignment(const RunDiff& diff, const Timeline& a, const Timeline& b) {
  // Of every step the first begin on any rank.
  const auto begins = [](const Timeline& timeline) {
    std::map<std::int64_t, Nanoseconds> found;
    for (const RankTracks& rank : timeline.ranks) {
      for (const StepSpan& step : rank.steps) {
        const auto [where, fresh] = found.emplace(step.number, step.begin);
        if (!fresh) where->second = std::min(where->second, step.begin);
      }
    }
    return found;
  };
  const auto of_a = begins(a), of_b = begins(b);
  for (const StepPair& pair : diff.steps) {
    const auto own = of_a.find(pair.step_a), other = of_b.find(pair.step_b);
    if (own != of_a.end() && other != of_b.end()) anchors_.push_back({own->second, other->second});
  }
  if (anchors_.empty()) anchors_.push_back({a.origin, b.origin});
}

TimeView StepAlignment::shifted(const TimeView& view, Nanoseconds Anchor::*from,
                                Nanoseconds Anchor::*to) const {
  const Nanoseconds middle = saturating_add(view.begin, view.span / 2);
  auto at = std::partition_point(anchors_.begin(), anchors_.end(),
                                 [&](const Anchor& anchor) { return anchor.*from <= middle; });
  if (at != anchors_.begin()) --at;
  TimeView result = view;
  const Nanoseconds begin = (*at).*from;
  Nanoseconds offset = 0;
  if (__builtin_sub_overflow(view.begin, begin, &offset)) offset = 0;
  result.begin = saturating_add((*at).*to, offset);
  return result;
}

TimeView StepAlignment::view_of_b(const TimeView& a) const {
  return shifted(a, &Anchor::a, &Anchor::b);
}

TimeView StepAlignment::view_of_a(const TimeView& b) const {
  return shifted(b, &Anchor::b, &Anchor::a);
}

std::vector<CauseChange> changes(const RunDiff& diff) {
  std::vector<CauseChange> all;
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
    const CauseChange change{static_cast<Cause>(cause), diff.a.parts.ns[cause], diff.b.parts.ns[cause]};
    if (change.a_ns != 0 || change.b_ns != 0) all.push_back(change);
  }
  std::stable_sort(all.begin(), all.end(), [](const CauseChange& x, const CauseChange& y) {
    return std::abs(x.change_ns()) > std::abs(y.change_ns());
  });
  return all;
}

const char* cause_label(const RunDiff& diff, Cause cause) {
  return cause_label(cause, diff.a.waits_known && diff.b.waits_known);
}

std::string sentence(const RunDiff& diff) {
  if (diff.steps.empty()) return "Nothing to compare: " + diff.why_empty + ".";
  const std::int64_t change = diff.b.window_ns - diff.a.window_ns;
  std::string text = fmt::format("B takes {} a step, A {}", analyzer::format_duration(diff.b.window_ns),
                                 analyzer::format_duration(diff.a.window_ns));
  constexpr std::int64_t kTimes = 10;  // from there on a percentage says less than a factor
  const auto [less, more] = std::minmax(diff.a.window_ns, diff.b.window_ns);
  if (less > 0 && more / less >= kTimes)
    text += fmt::format(": {:.0f} times {}", static_cast<double>(more) / static_cast<double>(less),
                        change > 0 ? "as long" : "shorter");
  else if (change != 0 && diff.a.window_ns > 0)
    text += fmt::format(": {} {}", analyzer::format_share(std::abs(change), diff.a.window_ns),
                        change > 0 ? "more" : "less");
  const std::vector<CauseChange> causes = changes(diff);
  if (!causes.empty() && causes.front().change_ns() != 0)
    text += fmt::format("{} {} ({}{})", change == 0 ? ": as long, but not of the same:" : ", above all",
                        cause_label(diff, causes.front().cause), causes.front().change_ns() > 0 ? "+" : "−",
                        analyzer::format_duration(std::abs(causes.front().change_ns())));
  if (!diff.ranks_left_out.empty())
    text +=
        fmt::format("; without {} {}, of which one run has no times",
                    diff.ranks_left_out.size() == 1 ? "rank" : "ranks", list_of_ranks(diff.ranks_left_out));
  return text + ".";
}

}  // namespace lockstep::viewer
