#include "analyzer/diagnose/hang_at_work.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/diagnose/hang_arguments.h"
#include "analyzer/diagnose/hang_places.h"
#include "analyzer/diagnose/hang_sentences.h"
#include "analyzer/diagnose/hang_words.h"
#include "analyzer/diagnose/job_endings.h"
#include "analyzer/diagnose/stuck_devices.h"
#include "analyzer/metrics/scheduling.h"
#include "analyzer/report/quantity.h"
#include "trace/events/wait_range.h"

namespace lockstep::analyzer::hang {
namespace {

// What a file lacks of its rank's last moments: the last flush, and the longest time between two looks.
constexpr Nanoseconds kLastLooks = kLastFlush + 1'000'000'000;
// The time before the last look, or the interruption, in which it has to be at work, too.
constexpr Nanoseconds kUntilTheEnd = 2'000'000'000;
// A recorder may take as long to note an interruption that ranks answer at once: what begins then is how they
// end.
constexpr Nanoseconds kAnswered = 1'000'000'000;

// It waits for others itself, or may.
bool waits_for_others(const Job& job, const RankTrace& rank) {
  const Ending& ending = rank.ending;
  const auto is_wait = [&](std::uint32_t name) {
    return job.strings.view(name) == trace::kWaitForCommunication;
  };
  return std::ranges::any_of(ending.operations,
                             [&](const OpenOperation& open) { return open.begin <= ending.interrupted; }) ||
         std::ranges::any_of(ending.ranges, is_wait) ||
         std::ranges::any_of(rank.host_ranges, [&](const HostRange& range) {
           return range.begin <= ending.interrupted && range.end >= ending.interrupted && is_wait(range.name);
         });
}

// Half of the time at least they ran, or were ready to and had no core.
bool is_mostly_running(const SchedulingTimes& times) {
  return 2 * (times.on_cpu_ns + times.waited_ns) >= times.known_ns;
}

// On a GPU the thread that waits for the device runs all the time, and that is no work.
bool ran_until_the_end(const RankTrace& rank, Nanoseconds since, AtWork& work) {
  const std::vector<SchedulingPoint>& points = rank.scheduling;
  const Nanoseconds interrupted = rank.ending.interrupted;
  if (rank.device != "cpu" || points.empty() || points.back().time < interrupted - kLastLooks) return false;
  const Nanoseconds last = std::min(points.back().time, interrupted);
  const auto all = scheduling_within(points, {since, last});
  const auto at_last = scheduling_within(points, {std::max(since, last - kUntilTheEnd), last});
  // Somebody looked for most of the time.
  if (!all || !at_last || 2 * all->known_ns < last - since || !is_mostly_running(*all) ||
      !is_mostly_running(*at_last) || all->on_cpu_ns <= 0)
    return false;
  work.ran_ns = std::min(all->on_cpu_ns, all->known_ns);  // several threads may run at once
  work.looked_ns = all->known_ns;
  return true;
}

bool computed_until_the_end(const RankTrace& rank, Nanoseconds since, AtWork& work) {
  const Nanoseconds interrupted = rank.ending.interrupted, answered = interrupted - kAnswered;
  const Nanoseconds from = std::max(since, answered - kUntilTheEnd);
  Nanoseconds last = kUnknownTime;
  for (const Activity& activity : rank.activities) {
    if (activity.begin >= answered) break;
    if (activity.activity_class == Class::compute && activity.begin >= from && activity.end <= interrupted)
      last = std::max(last, activity.end);
  }
  if (last == kUnknownTime) return false;
  work.computed_before = interrupted - last;
  return true;
}

std::optional<AtWork> work_until_the_end_of(const Job& job, const HungOperations& hung, std::int32_t number) {
  const auto rank = std::ranges::find(job.ranks, number, &RankTrace::rank);
  if (rank == job.ranks.end() || rank->ending.interrupted == kUnknownTime || waits_for_others(job, *rank))
    return std::nullopt;
  Nanoseconds since = rank->ending.interrupted;
  for (const auto& [key, operation] : hung)
    if (std::ranges::find(operation.missing, number) != operation.missing.end())
      since = std::min(since, operation.since);
  AtWork work;
  work.rank = number;
  if (ran_until_the_end(*rank, since, work) || computed_until_the_end(*rank, since, work)) return work;
  return std::nullopt;
}

// Nothing but ranks that have not come keeps it from ending.
bool only_lacks_ranks(const Job& job, const OperationKey& key, const HungOperation& operation) {
  return !operation.missing.empty() && operation.unknown.empty() && !operation.ended_elsewhere &&
         std::ranges::none_of(operation.waiting, &HungRank::gave_up) &&
         describe_disagreement(job, key, operation).empty() &&
         find_other_arguments(job, key, operation).about.empty();
}

}  // namespace

std::optional<InterruptedWait> find_interrupted_wait(const Job& job) {
  const auto noted = [](const RankTrace& rank) { return rank.ending.hang_noted != kUnknownTime; };
  if (!ended_by_interruption(job) || std::ranges::any_of(job.ranks, noted)) return std::nullopt;
  const HungOperations hung = find_hung_operations(job);
  if (hung.empty() || !find_stuck_devices(job).empty()) return std::nullopt;
  for (const auto& [key, operation] : hung)
    if (!only_lacks_ranks(job, key, operation)) return std::nullopt;
  InterruptedWait wait;
  for (const std::int32_t rank : ranks_that_hold_up(job, hung, {})) {
    std::optional<AtWork> work = work_until_the_end_of(job, hung, rank);
    if (!work) return std::nullopt;
    wait.at_work.push_back(*work);
  }
  if (wait.at_work.empty()) return std::nullopt;
  const auto lacks_one_at_work = [&](const auto& at) {
    return std::ranges::any_of(wait.at_work, [&](const AtWork& work) {
      return std::ranges::find(at->second.missing, work.rank) != at->second.missing.end();
    });
  };
  const std::vector<HungOperations::const_iterator> in_order = in_order_of_time(hung);
  const auto first = std::ranges::find_if(in_order, lacks_one_at_work);
  if (first == in_order.end()) return std::nullopt;
  wait.key = (*first)->first;
  wait.operation = (*first)->second;
  return wait;
}

std::string who_was_at_work(const InterruptedWait& wait) {
  std::vector<std::int32_t> ranks;
  for (const AtWork& work : wait.at_work) ranks.push_back(work.rank);
  return fmt::format("{} {}", named(ranks), ranks.size() == 1 ? "was" : "were");
}

std::string describe_work(const AtWork& work) {
  if (work.computed_before)
    return fmt::format("it computed until then: what it computed last ended {} before the interruption",
                       format_duration(*work.computed_before));
  return fmt::format(
      "its training threads ran on a core until then: for {} of the {} in which they were looked at since the "
      "others came",
      format_duration(work.ran_ns), format_duration(work.looked_ns));
}

}  // namespace lockstep::analyzer::hang
