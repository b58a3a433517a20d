#include "analyzer/diagnose/idle_stages.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/outside_passes.h"
#include "analyzer/intervals/interval_set.h"
#include "analyzer/metrics/scheduling.h"
#include "analyzer/model/operation.h"
#include "trace/events/wait_range.h"

namespace lockstep::analyzer {
namespace {

struct BusyTimes {
  IntervalSet all;      // computing, copying, an operation that is open, a wait for one
  IntervalSet on_duty;  // the same, without what it computes beside its passes and beyond the others
  IntervalSet compute;
  const std::vector<SchedulingPoint>* looks = nullptr;
  const IntervalSet* region = nullptr;  // the pipeline's; none: all times are within it
};

BusyTimes busy_times_of(const RankTrace& rank, const StringTable& strings, const IntervalSet* region,
                        const IntervalSet* outside) {
  std::vector<Interval> all, compute;
  // An operation that is over may not have woken the thread yet that waits for it.
  for (const HostRange& range : rank.host_ranges)
    if (strings.view(range.name) == trace::kWaitForCommunication) all.push_back({range.begin, range.end});
  for (const Activity& activity : rank.activities) {
    if (activity.activity_class != Class::sync) all.push_back({activity.begin, activity.end});
    if (activity.activity_class == Class::compute) compute.push_back({activity.begin, activity.end});
  }
  BusyTimes busy;
  busy.all = IntervalSet::from(std::move(all));
  busy.on_duty = outside == nullptr ? busy.all : subtract(busy.all, *outside);
  busy.compute = IntervalSet::from(std::move(compute));
  busy.looks = &rank.scheduling;
  busy.region = region;
  return busy;
}

struct Wait {
  Interval time;
  std::int32_t rank = -1;  // who waits
};

// The longest for the last one; empty where nobody waited.
Wait longest_wait(const CollectiveReport& message, Nanoseconds origin) {
  Wait longest;
  for (const CollectiveRank& rank : message.ranks) {
    if (rank.rank == *message.last_arriver || rank.wait_ns <= longest.time.end - longest.time.begin) continue;
    const Nanoseconds begin = origin + rank.arrival_ns;
    longest = {{begin, begin + rank.wait_ns}, rank.rank};
  }
  return longest;
}

// Of the waits for one rank in one step.
struct WaitsForOne {
  std::vector<Interval> all, exposed;
};

StepTable::Idle measure(const WaitsForOne& waits, const BusyTimes& of_late, std::vector<Interval>& times) {
  const IntervalSet idle = subtract(IntervalSet::from(waits.all), of_late.all);
  times.insert(times.end(), idle.intervals().begin(), idle.intervals().end());
  StepTable::Idle sums;
  sums.ns = idle.measure();
  sums.bubble_ns = of_late.region == nullptr ? sums.ns : sums.ns - subtract(idle, *of_late.region).measure();
  sums.exposed_ns = IntervalSet::from(waits.exposed).measure();
  for (const Interval& interval : idle.intervals())
    if (const auto within = scheduling_within(*of_late.looks, interval))
      sums.without_core_ns += within->waited_ns;
  return sums;
}

}  // namespace

bool IdleStages::mostly_idle(const CollectiveReport& message) const {
  const auto found = of_message.find(message.id);
  if (found == of_message.end()) return false;
  const Interval wait = longest_wait(message, 0).time;
  return 2 * found->second > wait.end - wait.begin;
}

IdleStages find_idle_stages(const Job& job, const Report& report, const std::vector<IntervalSet>& regions) {
  std::set<std::string> groups;
  for (const PipelineReport& pipeline : report.pipeline)
    if (!pipeline.stages_detail.empty()) groups.insert(pipeline.group);
  IdleStages idle;
  if (groups.empty()) return idle;
  const std::map<std::int32_t, IntervalSet> outside = computed_outside_passes(job, report);
  std::map<std::int32_t, BusyTimes> busy;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const auto beside = outside.find(job.ranks[i].rank);
    busy[job.ranks[i].rank] =
        busy_times_of(job.ranks[i], job.strings, i < regions.size() ? &regions[i] : nullptr,
                      beside == outside.end() ? nullptr : &beside->second);
  }

  std::map<std::pair<std::int64_t, std::int32_t>, WaitsForOne> waited;
  for (const CollectiveReport& message : report.collectives) {
    if (!message.last_arriver || !is_point_to_point(message.operation) ||
        !groups.contains(message.group_name))
      continue;
    const auto of_late = busy.find(*message.last_arriver);
    const Wait wait = longest_wait(message, report.origin_aligned_ns);
    const auto of_waiting = busy.find(wait.rank);
    if (of_late == busy.end() || of_waiting == busy.end()) continue;
    const std::int64_t idle_ns = wait.time.end - wait.time.begin -
                                 of_late->second.on_duty.measure_within(wait.time.begin, wait.time.end);
    if (idle_ns > 0) idle.of_message[message.id] = idle_ns;
    if (!message.step) continue;
    WaitsForOne& of_step = waited[{*message.step, *message.last_arriver}];
    of_step.all.push_back(wait.time);
    IntervalSet exposed = subtract(IntervalSet::from({wait.time}), of_waiting->second.compute);
    // What it then still computes, it would have done while it idled.
    if (!idle.mostly_idle(message)) exposed = subtract(exposed, of_late->second.on_duty);
    of_step.exposed.insert(of_step.exposed.end(), exposed.intervals().begin(), exposed.intervals().end());
  }
  for (const auto& [of, waits] : waited)
    idle.of_step[of] = measure(waits, busy.at(of.second), idle.times[of.second]);
  return idle;
}

std::optional<CommonPlace> place_of_idling(const Job& job, const IdleStages& idle, std::int32_t rank) {
  const auto found = idle.times.find(rank);
  return found == idle.times.end() ? std::nullopt : place_within(job, rank, IntervalSet::from(found->second));
}

std::optional<std::uint32_t> host_range_of_idling(const Diagnosis& diagnosis, const IdleStages& idle,
                                                  std::int32_t rank) {
  const auto found = idle.times.find(rank);
  if (found == idle.times.end()) return std::nullopt;
  const IntervalSet idled = IntervalSet::from(found->second);
  std::map<std::uint32_t, std::int64_t> by_name;
  for (std::size_t index = 0; index < diagnosis.job.ranks.size(); ++index) {
    if (diagnosis.job.ranks[index].rank != rank) continue;
    for (const std::vector<HostSpan>& thread : diagnosis.host_spans[index])
      for (const HostSpan& span : thread) by_name[span.name] += idled.measure_within(span.begin, span.end);
  }
  for (const auto& [name, ns] : by_name)
    if (2 * ns >= idled.measure() && ns > 0) return name;
  return std::nullopt;
}

}  // namespace lockstep::analyzer
