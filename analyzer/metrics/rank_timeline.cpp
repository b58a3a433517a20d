#include "analyzer/metrics/rank_timeline.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analyzer/intervals/sweep.h"
#include "analyzer/metrics/window_measure.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// Bits of the sweep, in the order of the sets handed to it.
enum Covered : unsigned {
  kCompute = 1u << 0,
  kTransfer = 1u << 1,
  kCollectiveWait = 1u << 2,
  kP2pWait = 1u << 3,
  kPipelineWait = 1u << 4,
  kCopy = 1u << 5,
  kUnclassified = 1u << 6,
  kPipelineRegion = 1u << 7,
  kDataLoading = 1u << 8,
};
constexpr unsigned kCommunication = kTransfer | kCollectiveWait | kP2pWait | kPipelineWait;
constexpr unsigned kBusy = kCompute | kCommunication | kCopy | kUnclassified;

// Finds, for idle instants in order, the activity that starts next.
class NextActivity {
 public:
  NextActivity(const std::vector<Activity>& activities, Nanoseconds time) : activities_(activities) {
    const auto after = [](Nanoseconds t, const Activity& activity) { return t < activity.begin; };
    at_ = static_cast<std::size_t>(std::upper_bound(activities.begin(), activities.end(), time, after) -
                                   activities.begin());
  }

  // The first activity that starts after `time`; of several that start together the one launched first, one
  // without a launch record only if all are. Null where none follows. `time` never decreases between calls.
  const Activity* after(Nanoseconds time) {
    if (chosen_ != nullptr && chosen_->begin > time) return chosen_;
    while (at_ < activities_.size() && (activities_[at_].begin <= time || !is_work(activities_[at_]))) ++at_;
    if (at_ == activities_.size()) return nullptr;
    chosen_ = &activities_[at_];
    // Activities are sorted by (begin, launch_begin); unknown launches stand first.
    for (std::size_t i = at_; i < activities_.size() && activities_[i].begin == chosen_->begin; ++i) {
      if (!is_work(activities_[i]) || activities_[i].launch_end == kUnknownTime) continue;
      chosen_ = &activities_[i];
      break;
    }
    return chosen_;
  }

  // Whether the call that launched what after(time) gave has launched work that began by `time`, as a CUDA
  // graph's replay does: then nothing waits for its return.
  bool has_begun(Nanoseconds time) const {
    if (chosen_->launch_begin > time) return false;
    for (std::size_t i = at_; i > 0 && activities_[i - 1].begin >= chosen_->launch_begin; --i) {
      const Activity& earlier = activities_[i - 1];
      if (is_work(earlier) && earlier.begin <= time && earlier.launch_begin == chosen_->launch_begin &&
          earlier.launch_end == chosen_->launch_end)
        return true;
    }
    return false;
  }

 private:
  const std::vector<Activity>& activities_;
  std::size_t at_ = 0;
  const Activity* chosen_ = nullptr;
};

// Splits an idle stretch by what the device waited for. `visit(begin, end, cause, launch_is_known)`.
template <class Visit>
void split_idle(Nanoseconds begin, Nanoseconds end, NextActivity& next, Visit&& visit) {
  while (begin < end) {
    const Activity* activity = next.after(begin);
    const Nanoseconds until = activity == nullptr ? end : std::min(end, activity->begin);
    if (activity == nullptr || activity->launch_end == kUnknownTime) {
      visit(begin, until, Cause::other, activity == nullptr);
    } else {
      const bool is_host_bound = activity->launch_end > begin && !next.has_begun(begin);
      const Nanoseconds launched = is_host_bound ? std::min(activity->launch_end, until) : begin;
      if (begin < launched) visit(begin, launched, Cause::host_bound, true);
      if (launched < until) visit(launched, until, Cause::queued, true);
    }
    begin = until;
  }
}

// The causes that need no look at the next activity.
Cause cause_of_busy(unsigned covered) {
  if ((covered & kCompute) != 0) return Cause::compute;
  if ((covered & kTransfer) != 0) return Cause::transfer;
  if ((covered & (kCollectiveWait | kP2pWait)) != 0) return Cause::barrier_wait;
  if ((covered & kPipelineWait) != 0) return Cause::pipeline_bubble;
  if ((covered & kCopy) != 0) return Cause::copy;
  return Cause::other;
}

IntervalSet union_of_loading(const RankTrace& rank) {
  std::vector<Interval> ranges;
  for (const HostRange& range : rank.host_ranges) {
    if (range.kind == HostKind::data_loading) ranges.push_back({range.begin, range.end});
  }
  return IntervalSet::from(std::move(ranges));
}

// The measures that have files of their own.
constexpr auto kWindowMeasures = std::to_array<const WindowMeasure*>({
#define LOCKSTEP_MEASURE(type, name, known, meaning)
#define LOCKSTEP_WINDOW_MEASURE(type, name, known, meaning) &window_measures::name,
#include "analyzer/report/measures.def"
});

// Those of them that have to see a window's stretches: found once a window, because stretches are many.
class StretchMeasures {
 public:
  explicit StretchMeasures(const RankTimeline& timeline) : timeline_(timeline) {
    for (const WindowMeasure* const one : kWindowMeasures) {
      if (one->add_stretch == nullptr) continue;
      if (one->needs_stretches == nullptr || one->needs_stretches(timeline)) needed_[count_++] = one;
    }
  }

  bool empty() const { return count_ == 0; }

  void add(const CauseSegment& stretch, Measures& measures) const {
    for (std::size_t i = 0; i < count_; ++i) needed_[i]->add_stretch(timeline_, stretch, measures);
  }

 private:
  const RankTimeline& timeline_;
  std::array<const WindowMeasure*, kWindowMeasures.size()> needed_{};
  std::size_t count_ = 0;
};

// Inlined, though called twice: it is called for each stretch.
[[gnu::always_inline]] inline void count_covered(unsigned covered, std::int64_t length, Measures& measures) {
  const auto when = [&](bool holds) { return holds ? length : 0; };
  const bool computing = (covered & kCompute) != 0;
  const bool communicating = (covered & kCommunication) != 0;
  measures.compute_ns += when(computing);
  measures.communication_ns += when(communicating);
  measures.overlap_ns += when(computing && communicating);
  measures.unclassified_ns += when((covered & kUnclassified) != 0);
  const bool waiting = (covered & kCollectiveWait) != 0;
  measures.collective_wait_ns += when(waiting && !computing);
  measures.hidden_collective_wait_ns += when(waiting && computing);
  const bool p2p_waiting = (covered & (kP2pWait | kPipelineWait)) != 0;
  measures.p2p_wait_ns += when(p2p_waiting && !computing);
  measures.hidden_p2p_wait_ns += when(p2p_waiting && computing);
}

}  // namespace

RankTimeline::RankTimeline(const RankTrace& rank, std::span<const CommunicationWait> waits,
                           IntervalSet pipeline_region)
    : rank_(&rank),
      waits_(waits.begin(), waits.end()),
      pipeline_region_(std::move(pipeline_region)),
      data_loading_(union_of_loading(rank)) {
  std::vector<Interval> transfers;
  transfers.reserve(waits.size());
  for (const Activity& activity : rank.activities) {
    switch (activity.activity_class) {
      case Class::compute:
        compute_.append(activity.begin, activity.end);
        break;
      case Class::copy:
        copy_.append(activity.begin, activity.end);
        break;
      case Class::unclassified:
        unclassified_.append(activity.begin, activity.end);
        break;
      case Class::sync:
        break;
      case Class::collective:
      case Class::p2p: {
        const CommunicationWait& wait = waits_[activity.communication];
        IntervalSet& waiting = wait.kind == WaitKind::collective ? collective_wait_
                               : wait.kind == WaitKind::p2p      ? p2p_wait_
                                                                 : pipeline_wait_;
        waiting.append(activity.begin, wait.until);
        transfers.push_back({wait.until, activity.end});
        break;
      }
    }
  }
  transfer_ = IntervalSet::from(std::move(transfers));
  for (const TimeSpan& span : rank.off_cpu) off_cpu_.append(span.begin, span.end);
}

// covered(begin, end, bits) for every stretch; cause(begin, end, cause) for every stretch of one cause, in
// order.
template <class VisitCovered, class VisitCause>
void RankTimeline::visit(Interval window, VisitCovered&& visit_covered, VisitCause&& visit_cause) const {
  NextActivity next(rank_->activities, window.begin);
  sweep<9>({&compute_, &transfer_, &collective_wait_, &p2p_wait_, &pipeline_wait_, &copy_, &unclassified_,
            &pipeline_region_, &data_loading_},
           window.begin, window.end, [&](Nanoseconds begin, Nanoseconds end, unsigned covered) {
             visit_covered(begin, end, covered);
             if ((covered & kBusy) != 0) {
               visit_cause(begin, end, cause_of_busy(covered));
             } else if ((covered & kPipelineRegion) != 0) {
               visit_cause(begin, end, Cause::pipeline_bubble);
             } else if ((covered & kDataLoading) != 0) {
               visit_cause(begin, end, Cause::data_wait);
             } else {
               split_idle(begin, end, next, [&](Nanoseconds from, Nanoseconds to, Cause cause, bool) {
                 visit_cause(from, to, cause);
               });
             }
           });
}

Measures RankTimeline::measures(Interval window, std::vector<CauseSegment>* segments,
                                LongestStretches* longest) const {
  Measures result;
  if (window.begin >= window.end) return result;
  result.window_ns = window.end - window.begin;
  for (const WindowMeasure* const one : kWindowMeasures) one->measure(*this, window, result);
  const StretchMeasures stretch_measures(*this);
  const std::size_t first_segment = segments == nullptr ? 0 : segments->size();
  CauseSegment stretch;
  const auto add_covered = [&](Nanoseconds begin, Nanoseconds end, unsigned covered) {
    count_covered(covered, end - begin, result);
  };
  if (segments == nullptr && longest == nullptr && stretch_measures.empty()) {
    // Of each step of most jobs: a fifth faster.
    visit(window, add_covered,
          [&](Nanoseconds begin, Nanoseconds end, Cause cause) { result.partition[cause] += end - begin; });
  } else {
    visit(window, add_covered, [&](Nanoseconds begin, Nanoseconds end, Cause cause) {
      result.partition[cause] += end - begin;
      stretch_measures.add({begin, end, cause}, result);
      if (longest != nullptr) {
        const bool goes_on = stretch.cause == cause && stretch.end == begin;
        stretch = {goes_on ? stretch.begin : begin, end, cause};
        Interval& most = (*longest)[static_cast<std::size_t>(cause)];
        if (end - stretch.begin > most.end - most.begin) most = {stretch.begin, end};
      }
      if (segments == nullptr) return;
      if (segments->size() > first_segment && segments->back().cause == cause) {
        segments->back().end = end;
      } else {
        segments->push_back({begin, end, cause});
      }
    });
  }
  result.exposed_communication_ns = result.communication_ns - result.overlap_ns;
  result.partition.compute_over_communication_ns = result.overlap_ns;
  if (result.communication_ns > 0) {
    result.overlap_ratio =
        static_cast<double>(result.overlap_ns) / static_cast<double>(result.communication_ns);
  }
  return result;
}

RankTimeline::Gaps RankTimeline::gaps(Interval window) const {
  Gaps gaps;
  NextActivity next(rank_->activities, window.begin);
  sweep<9>({&compute_, &transfer_, &collective_wait_, &p2p_wait_, &pipeline_wait_, &copy_, &unclassified_,
            &pipeline_region_, &data_loading_},
           window.begin, window.end, [&](Nanoseconds begin, Nanoseconds end, unsigned covered) {
             if (covered != 0) return;
             ++gaps.count;
             gaps.ns += end - begin;
             bool all_known = true;
             split_idle(begin, end, next, [&](Nanoseconds from, Nanoseconds to, Cause, bool known) {
               if (!known) gaps.without_launch_ns += to - from;
               all_known = all_known && known;
             });
             if (!all_known) ++gaps.without_launch;
           });
  return gaps;
}

std::vector<RankTimeline::CauseTimes> RankTimeline::causes_until(Nanoseconds begin,
                                                                 std::span<const Nanoseconds> times) const {
  std::vector<CauseTimes> result;
  result.reserve(times.size());
  CauseTimes sums{};
  std::size_t at = 0;
  for (; at < times.size() && times[at] <= begin; ++at) result.push_back(sums);
  if (at == times.size()) return result;
  visit(
      {begin, times.back()}, [](Nanoseconds, Nanoseconds, unsigned) {},
      [&](Nanoseconds from, Nanoseconds to, Cause cause) {
        std::int64_t& sum = sums[static_cast<std::size_t>(cause)];
        for (; at < times.size() && times[at] <= to; ++at) {
          sum += times[at] - from;
          from = times[at];
          result.push_back(sums);
        }
        sum += to - from;
      });
  return result;
}

std::vector<RankTimeline::KernelOverlap> RankTimeline::per_kernel_overlap(
    std::span<const Interval> windows, std::span<const CommunicationCover> covered) const {
  std::vector<KernelOverlap> result(windows.size());
  std::optional<CoverageIndex> compute;  // made for the first that is looked for
  for (std::size_t index = 0; index < rank_->communications.size(); ++index) {
    const Activity& activity = rank_->activities[rank_->communications[index].activity];
    auto window = std::upper_bound(windows.begin(), windows.end(), activity.begin,
                                   [](Nanoseconds time, const Interval& w) { return time < w.end; });
    for (; window != windows.end() && window->begin < activity.end; ++window) {
      const Nanoseconds begin = std::max(activity.begin, window->begin);
      const Nanoseconds end = std::min(activity.end, window->end);
      if (begin >= end) continue;
      KernelOverlap& sums = result[static_cast<std::size_t>(window - windows.begin())];
      const bool is_known = !covered.empty() && begin == activity.begin && end == activity.end;
      if (!is_known && !compute) compute.emplace(compute_);
      sums.covered_ns += static_cast<double>(is_known ? covered[index].all_ns : compute->within(begin, end));
      sums.total_ns += static_cast<double>(end - begin);
    }
  }
  return result;
}

std::vector<RankTimeline::CommunicationCover> RankTimeline::covered_communication() const {
  std::vector<CommunicationCover> result;
  result.reserve(waits_.size());
  const CoverageIndex compute(compute_);
  for (std::size_t index = 0; index < waits_.size(); ++index) {
    const Activity& activity = rank_->activities[rank_->communications[index].activity];
    const std::int64_t before = compute.before(activity.begin);
    const auto until = [&](Nanoseconds end) {
      return end > activity.begin ? compute.before(end) - before : 0;
    };
    result.push_back({before, until(waits_[index].until), until(activity.end)});
  }
  return result;
}

}  // namespace lockstep::analyzer
