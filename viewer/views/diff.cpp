#include "viewer/views/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

#include "analyzer/diff/diff_words.h"
#include "analyzer/diff/run_sums.h"
#include "viewer/timeline/rank_order.h"

namespace lockstep::viewer {

namespace {

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

// Those of `ranks` that the other has too.
OfRanks shared(OfRanks ranks, const OfRanks& other) {
  std::erase_if(ranks, [&other](const auto& rank) { return !other.contains(rank.first); });
  return ranks;
}

// Over steady steps, as `lockstep diff` has it.
void split_difference(const Scene& a, const Scene& b, RunDiff& diff) {
  std::vector<analyzer::RunSums> sides[2];
  for (const auto& [scene, side] : {std::pair{&a, &sides[0]}, std::pair{&b, &sides[1]}}) {
    Result<analyzer::RunSums> sums = analyzer::run_sums(scene->report(), scene->steps());
    if (!sums.ok()) {
      diff.why_empty = sums.error().message;
      return;
    }
    side->push_back(std::move(sums).value());
  }
  Result<analyzer::RunsDiff> split = analyzer::diff_runs(std::move(sides[0]), std::move(sides[1]));
  if (split.ok())
    diff.split = std::move(split).value();
  else
    diff.why_empty = split.error().message;
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
  const bool same_size = a.report().world_size == b.report().world_size;
  const auto add = [&](const auto& own, const auto& other) {
    const bool share = same_size && std::ranges::any_of(own.second, [&other](const auto& rank) {
                         return other.second.contains(rank.first);
                       });
    diff.steps.push_back({own.first, other.first,
                          mean_of(share ? shared(own.second, other.second) : own.second),
                          mean_of(share ? shared(other.second, own.second) : other.second)});
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
  split_difference(a, b, diff);
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
    if (own != of_a.end() && other != of_b.end())
      anchors_.push_back({own->second, other->second, pair.step_a, pair.step_b});
  }
  any_pair_ = !anchors_.empty();
  if (!any_pair_) anchors_.push_back({a.origin, b.origin});
  in_a_ = extent(a, b, &Anchor::a, &Anchor::b);
  in_b_ = extent(b, a, &Anchor::b, &Anchor::a);
}

namespace {

constexpr __int128 kMin = std::numeric_limits<Nanoseconds>::min();
constexpr __int128 kMax = std::numeric_limits<Nanoseconds>::max();

// `time` as far from `to` as it is from `from`.
Nanoseconds moved(Nanoseconds time, Nanoseconds from, Nanoseconds to) {
  const __int128 result = __int128{time} - from + to;
  return static_cast<Nanoseconds>(std::clamp(result, kMin, kMax));
}

TimeRange around_both(TimeRange a, TimeRange b) {
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

}  // namespace

StepAlignment::Extent StepAlignment::extent(const Timeline& own, const Timeline& other, Side from,
                                            Side to) const {
  // A view's middle decides which pair of steps stands at one place, and so how far B is moved: for each pair
  // the shortest view around both whose middle lies in that pair's part of the time.
  constexpr Nanoseconds kRounding = 2;  // of a view's begin and span
  Extent extent;
  __int128 shortest = -1;
  for (std::size_t i = 0; i < anchors_.size(); ++i) {
    const auto shift = [&](Nanoseconds time) { return moved(time, anchors_[i].*to, anchors_[i].*from); };
    const TimeRange both = around_both(own.focus, {shift(other.focus.begin), shift(other.focus.end)});
    __int128 middle = (__int128{both.begin} + both.end) / 2;
    const bool last = i + 1 == anchors_.size();
    if (!last) middle = std::min(middle, __int128{anchors_[i + 1].*from} - kRounding);
    if (i > 0) middle = std::max(middle, __int128{anchors_[i].*from} + kRounding);
    if (!last && middle >= anchors_[i + 1].*from) continue;  // too short a part; the first has room enough
    const __int128 half = std::max(middle - both.begin, both.end - middle);
    if (shortest >= 0 && half >= shortest) continue;
    shortest = half;
    extent.whole = {static_cast<Nanoseconds>(std::max(middle - half, kMin)),
                    static_cast<Nanoseconds>(std::min(middle + half, kMax))};
  }
  const Anchor& first = anchors_.front();
  const Anchor& end = anchors_.back();
  extent.reach = around_both(own.content, {moved(other.content.begin, first.*to, first.*from),
                                           moved(other.content.end, end.*to, end.*from)});
  extent.reach = around_both(extent.reach, extent.whole);
  return extent;
}

const StepAlignment::Anchor& StepAlignment::anchor_of(const TimeView& view, Side side) const {
  const Nanoseconds middle = saturating_add(view.begin, view.span / 2);
  const auto at = std::partition_point(anchors_.begin(), anchors_.end(),
                                       [&](const Anchor& anchor) { return anchor.*side <= middle; });
  return at == anchors_.begin() ? *at : *(at - 1);
}

std::string StepAlignment::aligned_at(const TimeView& a, const TimeView& b) const {
  if (!any_pair_) return {};
  const Anchor& anchor = view_of_b(a) == b ? anchor_of(a, &Anchor::a) : anchor_of(b, &Anchor::b);
  if (anchor.step_a == anchor.step_b) return fmt::format("step {}", anchor.step_a);
  return fmt::format("step {} of A and step {} of B", anchor.step_a, anchor.step_b);
}

TimeView StepAlignment::shifted(const TimeView& view, Side from, Side to) const {
  const Anchor& anchor = anchor_of(view, from);
  TimeView result = view;
  const Nanoseconds begin = anchor.*from;
  Nanoseconds offset = 0;
  if (__builtin_sub_overflow(view.begin, begin, &offset)) offset = 0;
  result.begin = saturating_add(anchor.*to, offset);
  return result;
}

TimeView StepAlignment::view_of_b(const TimeView& a) const {
  return shifted(a, &Anchor::a, &Anchor::b);
}

TimeView StepAlignment::view_of_a(const TimeView& b) const {
  return shifted(b, &Anchor::b, &Anchor::a);
}

std::vector<analyzer::CauseDiff> changed_causes(const analyzer::RunsDiff& diff) {
  std::vector<analyzer::CauseDiff> all = diff.causes;
  std::erase_if(
      all, [](const analyzer::CauseDiff& cause) { return cause.time.a_ns == 0 && cause.time.b_ns == 0; });
  std::stable_sort(all.begin(), all.end(), [](const analyzer::CauseDiff& x, const analyzer::CauseDiff& y) {
    return std::abs(x.time.change_ns()) > std::abs(y.time.change_ns());
  });
  return all;
}

std::vector<analyzer::RankDiff> most_changed_ranks(const analyzer::RunsDiff& diff, std::size_t most) {
  std::vector<analyzer::RankDiff> ranks = diff.ranks;
  std::stable_sort(ranks.begin(), ranks.end(), [](const analyzer::RankDiff& x, const analyzer::RankDiff& y) {
    return std::abs(x.own.change_ns()) > std::abs(y.own.change_ns());
  });
  if (ranks.size() > most) ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(most), ranks.end());
  std::sort(ranks.begin(), ranks.end(),
            [](const analyzer::RankDiff& x, const analyzer::RankDiff& y) { return x.rank < y.rank; });
  return ranks;
}

std::string sentence(const RunDiff& diff) {
  if (!diff.split) return "Nothing to compare: " + diff.why_empty + ".";
  std::string text = headline(*diff.split);
  if (const std::vector<std::int32_t>& without = diff.split->ranks_left_out; !without.empty())
    text += fmt::format(" Without {} {}, of which one run has no times.",
                        without.size() == 1 ? "rank" : "ranks", list_of_ranks(without));
  return text;
}

}  // namespace lockstep::viewer
