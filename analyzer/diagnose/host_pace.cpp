#include "analyzer/diagnose/host_pace.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/intervals/median.h"
#include "analyzer/model/gpus.h"

namespace lockstep::analyzer {
namespace {

// A launch takes 2 to 10 µs; one that takes as long as this waited for room in the queue.
constexpr Nanoseconds kWaitingCall = 20'000;
// Hosts that run the same program are not equally fast: of two healthy ranks on one machine one took up to 23
// % longer, throughout a run, by the core that it got. From a third on it does something else, or is held up.
constexpr std::int64_t kOrdinary = 3;
// Of a step, all but a tenth: slow launches that are no waiting.
constexpr std::int64_t kBusy = 10;
// Over the run, or over so many steps: one step alone tells little, and a host may get slow in mid-run.
constexpr std::size_t kStepsOfPace = 10;
// One step alone tells where its host takes twice as long as the others', and a fifth of the step longer: it
// logs, collects garbage or loads.
constexpr std::int64_t kInOneStep = 2, kPartOfStep = 5;

// A function of CUDA's runtime or driver.
bool is_cuda_call(std::string_view name) {
  if (name.starts_with("cuda")) return true;
  return name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z';
}

// The times in which the rank's host waited for its GPU; empty where that is not known.
IntervalSet waits_of(const RankTrace& rank, const StringTable& strings) {
  std::vector<Interval> waits;
  std::size_t on_gpu = 0, launched = 0;
  std::vector<bool> is_gpu;
  for (const JobLane& lane : rank.lanes) is_gpu.push_back(is_gpu_lane(lane));
  for (const Activity& activity : rank.activities) {
    if (!is_gpu[activity.lane]) {
      // A collective of the host's own, in which it may wait as well.
      if (activity.activity_class == Class::collective || activity.activity_class == Class::p2p) return {};
    } else if (activity.activity_class == Class::sync) {
      if (is_host_wait(activity, strings)) waits.push_back({activity.begin, activity.end});
    } else {
      ++on_gpu;
      if (activity.launch_end == kUnknownTime) continue;
      ++launched;
      if (activity.launch_end - activity.launch_begin >= kWaitingCall)
        waits.push_back({activity.launch_begin, activity.launch_end});
    }
  }
  if (launched * 10 < on_gpu * 9) return {};
  for (const HostRange& range : rank.host_ranges) {
    if (range.end - range.begin < kWaitingCall) continue;
    const std::string_view name = strings.view(range.name);
    if (name == "command buffer full" || is_cuda_call(name)) waits.push_back({range.begin, range.end});
  }
  return IntervalSet::from(std::move(waits));
}

}  // namespace

HostPace::HostPace(const Job& job) {
  for (const std::vector<const RankTrace*>& ranks : ranks_that_share_gpus(job))
    for (const RankTrace* rank : ranks) hosts_[rank->rank].shares_gpu = true;
  for (const RankTrace& rank : job.ranks) {
    Host& host = hosts_[rank.rank];
    if (rank.steps.empty() || rank.device == "cpu") continue;
    const IntervalSet waits = waits_of(rank, job.strings);
    if (waits.empty()) continue;
    const CoverageIndex waited(waits);
    for (std::size_t i = 0; i < rank.steps.size(); ++i) {
      const StepMark& step = rank.steps[i];
      const bool goes_on = i + 1 < rank.steps.size() && rank.steps[i + 1].number == step.number + 1;
      const Nanoseconds end = goes_on ? rank.steps[i + 1].begin : step.end;
      host.steps.push_back({step.number, end - step.begin - waited.within(step.begin, end)});
    }
    std::stable_sort(host.steps.begin(), host.steps.end(),
                     [](const StepTime& a, const StepTime& b) { return a.step < b.step; });
  }
}

std::optional<std::int64_t> HostPace::own_ns(std::int32_t rank, std::int64_t step) const {
  const auto host = hosts_.find(rank);
  if (host == hosts_.end()) return std::nullopt;
  const std::vector<StepTime>& steps = host->second.steps;
  const auto found =
      std::lower_bound(steps.begin(), steps.end(), step,
                       [](const StepTime& time, std::int64_t number) { return time.step < number; });
  return found == steps.end() || found->step != step ? std::nullopt : std::optional(found->own_ns);
}

bool HostPace::shares_gpu(std::int32_t rank) const {
  const auto host = hosts_.find(rank);
  return host != hosts_.end() && host->second.shares_gpu;
}

namespace {

// Of each rank, in one step, or in the median of several: its host's own time, and the median of the others'.
// Empty where some rank's is not known.
struct HostTimes {
  std::vector<std::int64_t> own, others;

  bool known() const { return !own.empty(); }
  // The rank's host takes so much longer that it is not the speed of a core.
  bool is_slow(std::size_t rank) const {
    return known() && own[rank] * kOrdinary >= others[rank] * (kOrdinary + 1);
  }
  bool stands_out(std::size_t rank, std::int64_t window_ns) const {
    return known() && own[rank] >= kInOneStep * others[rank] &&
           (own[rank] - others[rank]) * kPartOfStep >= window_ns;
  }
};

HostTimes times_of(std::vector<std::int64_t> own) {
  HostTimes times;
  times.others = lower_medians_of_others(own);
  times.own = std::move(own);
  return times;
}

HostTimes times_in(const HostPace& pace, const StepTable& table, std::size_t step) {
  std::vector<std::int64_t> own;
  for (const std::int32_t rank : table.ranks) {
    const std::optional<std::int64_t> ns = pace.own_ns(rank, table.steps[step]);
    if (!ns) return {};
    own.push_back(*ns);
  }
  return times_of(std::move(own));
}

HostTimes median_of_steps(const std::vector<HostTimes>& steps, std::size_t first, std::size_t last,
                          std::size_t ranks) {
  std::vector<std::int64_t> medians, of_rank;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    of_rank.clear();
    for (std::size_t step = first; step < last; ++step)
      if (steps[step].known()) of_rank.push_back(steps[step].own[rank]);
    if (of_rank.empty()) return {};
    medians.push_back(lower_median(of_rank));
  }
  return times_of(std::move(medians));
}

std::int64_t longest_window(const StepTable& table, std::size_t step) {
  std::int64_t longest = 0;
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank)
    longest = std::max(longest, table.cell(step, rank).measures.window_ns);
  return longest;
}

// How late the rank can be in the step at most, and why no more.
struct Limit {
  std::int64_t ns = 0;
  bool by_gpu = false;  // it shares its GPU, and by no more it is surely longer than the others
};

// `computes_beyond`: of a rank that shares its GPU, what the others of that GPU surely compute less.
std::optional<Limit> limit_of(std::int64_t window_ns, const HostTimes& times, std::size_t rank,
                              bool shares_gpu, bool slow_host, std::int64_t computes_beyond) {
  if (!times.known()) return shares_gpu ? std::optional(Limit{computes_beyond, true}) : std::nullopt;
  const std::int64_t hosts = slow_host ? times.others[rank] : std::max(times.others[rank], times.own[rank]);
  // The hosts take all of the step, slow calls aside.
  if (!slow_host && hosts * kBusy >= window_ns * (kBusy - 1)) return Limit{0, false};
  const std::int64_t left = std::max<std::int64_t>(0, window_ns - hosts);
  if (!shares_gpu) return Limit{left, false};
  const std::int64_t longer = std::max(computes_beyond, slow_host ? times.own[rank] - times.others[rank] : 0);
  return longer <= left ? Limit{longer, true} : Limit{left, false};
}

// What the ranks waited in the step beyond what any of them is late by.
std::int64_t waited_beyond(const StepTable& table, std::size_t step) {
  const std::size_t count = table.rank_count();
  std::int64_t before = 0, after = 0, sum = 0;
  for (std::size_t rank = 0; rank < count; ++rank) {
    before = std::max(before, table.late_by_waits(step, rank));
    after = std::max(after, table.late(step, rank));
  }
  for (std::size_t rank = 0; rank < count; ++rank)
    sum += std::min(table.cell(step, rank).measures.partition[Cause::barrier_wait], before - after);
  return sum;
}

// What of that is their hosts'. All, unless the latest of them shares its GPU: how long its work takes to
// start, once launched, is the GPU's choice.
std::int64_t of_hosts(const HostPace& pace, const StepTable& table,
                      const std::vector<std::int64_t>& waited_for_launches, std::size_t step,
                      std::int64_t beyond) {
  const std::size_t count = table.rank_count();
  std::size_t latest = 0;
  for (std::size_t rank = 1; rank < count; ++rank)
    if (table.late_by_waits(step, rank) > table.late_by_waits(step, latest)) latest = rank;
  if (waited_for_launches.empty() || !pace.shares_gpu(table.ranks[latest])) return beyond;
  std::int64_t for_launches = 0;
  for (std::size_t rank = 0; rank < count; ++rank) for_launches += waited_for_launches[step * count + rank];
  return std::min(beyond, for_launches);
}

}  // namespace

void limit_to_hosts(const HostPace& pace, const SharedGpuTimes& shared, StepTable& table) {
  const std::size_t count = table.rank_count();
  std::vector<HostTimes> steps;
  std::vector<std::int64_t> windows;
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    steps.push_back(times_in(pace, table, step));
    windows.push_back(longest_window(table, step));
  }
  const HostTimes throughout = median_of_steps(steps, 0, steps.size(), count);
  const std::vector<std::int64_t> by_waits = table.late_ns;
  std::vector<bool> by_gpu(steps.size(), false);
  for (std::size_t first = 0; first < steps.size(); first += kStepsOfPace) {
    const std::size_t last = std::min(first + kStepsOfPace, steps.size());
    const HostTimes together = median_of_steps(steps, first, last, count);
    for (std::size_t rank = 0; rank < count; ++rank) {
      const bool is_slow = throughout.is_slow(rank) || together.is_slow(rank);
      const bool shares_gpu = pace.shares_gpu(table.ranks[rank]);
      for (std::size_t step = first; step < last; ++step) {
        const std::int64_t late = by_waits[step * count + rank];
        if (late <= 0) continue;
        // What its host does before it launches lies in its window of the step before, the others' wait in
        // theirs of this one.
        const bool stands_out = steps[step].stands_out(rank, windows[step]);
        const std::int64_t window_ns = stands_out ? windows[step] : table.cell(step, rank).measures.window_ns;
        const bool slow_host = is_slow || stands_out;
        const std::optional<Limit> limit =
            limit_of(window_ns, steps[step], rank, shares_gpu, slow_host,
                     shares_gpu ? shared.computes_beyond[step * count + rank] : 0);
        if (!limit || limit->ns >= late) continue;
        table.late_ns[step * count + rank] = limit->ns;
        // Of two ranks each is as late as the other is early.
        if (count == 2) table.late_ns[step * count + 1 - rank] = -limit->ns;
        by_gpu[step] = limit->by_gpu;
      }
    }
  }
  if (table.late_ns == by_waits) return;
  table.by_waits_ns = by_waits;
  for (std::size_t rank = 0; rank < count; ++rank) table.slow_hosts.push_back(throughout.is_slow(rank));
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const std::int64_t beyond = waited_beyond(table, step);
    const std::int64_t hosts =
        by_gpu[step] ? 0 : of_hosts(pace, table, shared.waited_for_launches, step, beyond);
    table.behind_hosts_ns.push_back(hosts);
    table.behind_gpu_ns.push_back(beyond - hosts);
  }
}

}  // namespace lockstep::analyzer
