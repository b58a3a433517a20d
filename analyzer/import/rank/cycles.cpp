#include "analyzer/import/rank/cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analyzer/model/map_times.h"
#include "analyzer/model/order.h"

namespace lockstep::analyzer {
namespace {

// Begin and end on the clock that files of one process share.
std::optional<TimeSpan> time_of(const RankImport& import) {
  const EventSpan events = span_of_events(import.trace);
  TimeSpan span;
  if (!events.any || __builtin_add_overflow(events.span.begin, import.clock_zero, &span.begin) ||
      __builtin_add_overflow(events.span.end, import.clock_zero, &span.end))
    return std::nullopt;
  return span;
}

bool steps_rise(const RankImport& first, const RankImport& second) {
  if (first.trace.steps.empty() || second.trace.steps.empty()) return true;
  return first.trace.steps.back().number < second.trace.steps.front().number;
}

// Whether `second` is a later cycle of what `first` is a profile of.
bool follows(const RankImport& first, const RankImport& second) {
  const std::optional<TimeSpan> before = time_of(first), after = time_of(second);
  return before && after && before->end <= after->begin && steps_rise(first, second) &&
         first.clock_name == second.clock_name && first.process == second.process &&
         first.trace.device == second.trace.device;
}

std::vector<std::uint32_t> lanes_in(RankTrace& whole, const RankTrace& part) {
  std::vector<std::uint32_t> ids;
  for (const JobLane& lane : part.lanes) {
    const auto found = std::find_if(whole.lanes.begin(), whole.lanes.end(), [&](const JobLane& known) {
      return known.handle == lane.handle && known.name == lane.name;
    });
    ids.push_back(static_cast<std::uint32_t>(found - whole.lanes.begin()));
    if (found == whole.lanes.end()) whole.lanes.push_back(lane);
  }
  return ids;
}

// Puts `part`, which comes later, behind what is there.
bool append(RankImport& whole, RankImport part) {
  std::int64_t by = 0;
  if (__builtin_sub_overflow(part.clock_zero, whole.clock_zero, &by)) return false;
  if (by != 0 && !map_times(part.trace, [by](Nanoseconds time) { return time + by; })) return false;
  const Nanoseconds ended = span_of_events(whole.trace).span.end;
  const Nanoseconds begins = span_of_events(part.trace).span.begin;
  std::vector<std::uint32_t> strings, groups;
  for (std::uint32_t i = 0; i < part.strings.size(); ++i)
    strings.push_back(whole.strings.intern(part.strings.view(i)));
  for (const JobGroup& group : part.groups) groups.push_back(whole.intern_group(group));
  const std::vector<std::uint32_t> lanes = lanes_in(whole.trace, part.trace);
  RankTrace& trace = whole.trace;
  const auto activities = static_cast<std::uint32_t>(trace.activities.size());
  const auto communications = static_cast<std::uint32_t>(trace.communications.size());
  const auto computations = static_cast<std::uint32_t>(trace.computations.size());
  const auto steps = static_cast<std::uint32_t>(trace.steps.size());
  for (Activity activity : part.trace.activities) {
    activity.name = strings[activity.name];
    activity.lane = lanes[activity.lane];
    if (activity.communication != kNone) activity.communication += communications;
    if (activity.compute != kNone) activity.compute += computations;
    if (activity.step != kNone) activity.step += steps;
    trace.activities.push_back(activity);
  }
  for (Communication communication : part.trace.communications) {
    communication.activity += activities;
    if (communication.group != kNone) communication.group = groups[communication.group];
    trace.communications.push_back(communication);
  }
  for (HostRange range : part.trace.host_ranges) {
    range.name = strings[range.name];
    range.lane = lanes[range.lane];
    trace.host_ranges.push_back(range);
  }
  std::stable_sort(trace.host_ranges.begin(), trace.host_ranges.end(),
                   [](const HostRange& a, const HostRange& b) {
                     return std::tie(a.lane, a.begin, a.depth) < std::tie(b.lane, b.begin, b.depth);
                   });
  const auto take = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  take(trace.computations, part.trace.computations);
  take(trace.steps, part.trace.steps);
  take(trace.lost, part.trace.lost);
  take(whole.warnings, part.warnings);
  trace.unrecorded.push_back({ended, begins});
  trace.dropped_events += part.trace.dropped_events;
  trace.resolution_ns = std::max(trace.resolution_ns, part.trace.resolution_ns);
  if (part.trace.training) trace.training = part.trace.training;
  order_activities(trace);
  return true;
}

// One rank's files, by time.
struct Files {
  std::vector<std::size_t> of;
  bool are_cycles = true;
};

}  // namespace

Status join_cycles(std::vector<RankImport>& imports, int cycle, std::vector<Warning>& warnings) {
  std::map<std::int32_t, Files> files;
  for (std::size_t i = 0; i < imports.size(); ++i)
    if (imports[i].may_be_a_cycle && imports[i].rank_known) files[imports[i].trace.rank].of.push_back(i);
  std::vector<bool> used_up(imports.size(), false);
  std::size_t most = 1, ranks = 0;
  for (auto& [rank, of] : files) {
    std::stable_sort(of.of.begin(), of.of.end(), [&](std::size_t a, std::size_t b) {
      const auto left = time_of(imports[a]), right = time_of(imports[b]);
      return (left ? left->begin : 0) < (right ? right->begin : 0);
    });
    for (std::size_t i = 0; i + 1 < of.of.size(); ++i)
      of.are_cycles = of.are_cycles && follows(imports[of.of[i]], imports[of.of[i + 1]]);
    if (!of.are_cycles || of.of.size() < 2) continue;
    ++ranks;
    most = std::max(most, of.of.size());
  }
  if (cycle > static_cast<int>(most))
    return Error{fmt::format("--cycle {}: there {}", cycle,
                             most == 1 ? "is one profile of each process"
                                       : fmt::format("are {} cycles of each process at most", most))};
  for (auto& [rank, of] : files) {
    if (!of.are_cycles || of.of.size() < 2) continue;
    for (std::size_t i = 0; i < of.of.size(); ++i) {
      if (cycle > 0 && i != static_cast<std::size_t>(cycle - 1)) used_up[of.of[i]] = true;
      if (cycle == 0 && i > 0) used_up[of.of[i]] = append(imports[of.of.front()], imports[of.of[i]]);
    }
  }
  if (ranks > 0)
    warnings.push_back(
        {"profile_cycles",
         cycle > 0 ? fmt::format("cycle {} of {} is read; the others are left out", cycle, most)
                   : fmt::format("{} has up to {} profiles, one after the other: all are read as one "
                                 "recording, with nothing recorded between them (--cycle N reads one)",
                                 ranks == 1 ? "a rank" : fmt::format("each of {} ranks", ranks), most),
         kNoRank});
  std::vector<RankImport> kept;
  for (std::size_t i = 0; i < imports.size(); ++i)
    if (!used_up[i]) kept.push_back(std::move(imports[i]));
  imports = std::move(kept);
  return {};
}

}  // namespace lockstep::analyzer
