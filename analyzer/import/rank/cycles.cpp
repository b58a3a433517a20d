#include "analyzer/import/rank/cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analyzer/model/map_times.h"
#include "analyzer/model/order.h"
#include "base/number_lists.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

bool steps_rise(const RankImport& first, const RankImport& second) {
  if (first.trace.steps.empty() || second.trace.steps.empty()) return true;
  return first.trace.steps.back().number < second.trace.steps.front().number;
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
  trace.profiler_ns = saturating_add(trace.profiler_ns, part.trace.profiler_ns);
  trace.resolution_ns = std::max(trace.resolution_ns, part.trace.resolution_ns);
  if (part.trace.training) trace.training = part.trace.training;
  order_activities(trace);
  return true;
}

// The files of one rank, or of one process whose rank is not known.
struct Profiles {
  std::vector<std::size_t> files;  // by time
  bool are_cycles = true;
  std::vector<std::size_t> cycle_of;  // of each file, from 0

  std::size_t cycles() const { return are_cycles ? files.size() : 1; }
};
using RankOrWorker = std::pair<bool, std::int32_t>;  // whether the rank is known; the rank, or the worker
using AllProfiles = std::map<RankOrWorker, Profiles>;

AllProfiles profiles_among(const std::vector<RankImport>& imports) {
  AllProfiles all;
  for (std::size_t i = 0; i < imports.size(); ++i) {
    const RankImport& import = imports[i];
    if (!import.may_be_a_cycle) continue;
    if (import.rank_known)
      all[{true, import.trace.rank}].files.push_back(i);
    else if (import.worker >= 0)
      all[{false, import.worker}].files.push_back(i);
  }
  for (auto& [key, profiles] : all) {
    const std::size_t first_given = profiles.files.front();
    order_by_time(imports, profiles.files);
    for (std::size_t i = 0; i + 1 < profiles.files.size(); ++i)
      profiles.are_cycles =
          profiles.are_cycles && is_later_cycle(imports[profiles.files[i]], imports[profiles.files[i + 1]]);
    // Of files that are none merge_ranks() uses the one that was given first.
    if (!profiles.are_cycles)
      std::iter_swap(profiles.files.begin(),
                     std::find(profiles.files.begin(), profiles.files.end(), first_given));
  }
  return all;
}

bool share_a_step(const RankImport& a, const RankImport& b) {
  const auto &left = a.trace.steps, &right = b.trace.steps;
  return !left.empty() && !right.empty() && left.front().number <= right.back().number &&
         right.front().number <= left.back().number;
}

bool share_a_time(const RankImport& a, const RankImport& b) {
  const std::optional<TimeSpan> left = recorded_span(a), right = recorded_span(b);
  return a.clock_name == b.clock_name && left && right && left->begin < right->end &&
         right->begin < left->end;
}

// A rank that lacks cycles may lack the first: which its files are is told by the steps that they share with
// the files of a rank that has all, or by the time where step numbers begin again.
void place_files(const std::vector<RankImport>& imports, const Profiles& whole, Profiles& profiles) {
  const auto number_in_order = [&] {
    profiles.cycle_of.resize(profiles.files.size());
    std::iota(profiles.cycle_of.begin(), profiles.cycle_of.end(), std::size_t{0});
  };
  if (profiles.cycles() == whole.cycles()) return number_in_order();
  bool rise = true;
  for (std::size_t i = 0; i + 1 < whole.files.size(); ++i)
    rise = rise && steps_rise(imports[whole.files[i]], imports[whole.files[i + 1]]);
  std::size_t next = 0;
  for (std::size_t i = 0; i < profiles.cycles(); ++i) {
    const RankImport& file = imports[profiles.files[i]];
    const bool by_steps = rise && !file.trace.steps.empty();
    while (next < whole.files.size()) {
      const RankImport& other = imports[whole.files[next]];
      if (by_steps ? share_a_step(other, file) : share_a_time(other, file)) break;
      ++next;
    }
    if (next == whole.files.size()) return number_in_order();
    profiles.cycle_of.push_back(next++);
  }
}

// What to add to the step numbers of each cycle, so that they go on where they would begin again.
std::vector<std::int64_t> step_offsets(const std::vector<RankImport>& imports, const AllProfiles& all,
                                       std::size_t cycles) {
  struct Range {
    std::int64_t first = INT64_MAX, last = INT64_MIN;
  };
  std::vector<Range> ranges(cycles);
  bool begin_again = false;
  for (const auto& [key, profiles] : all) {
    if (!profiles.are_cycles) continue;
    for (std::size_t i = 0; i < profiles.files.size(); ++i) {
      const RankImport& file = imports[profiles.files[i]];
      begin_again = begin_again || (i > 0 && !steps_rise(imports[profiles.files[i - 1]], file));
      for (const StepMark& step : file.trace.steps) {
        Range& range = ranges[profiles.cycle_of[i]];
        range = {std::min(range.first, step.number), std::max(range.last, step.number)};
      }
    }
  }
  std::vector<std::int64_t> offsets(cycles, 0);
  if (!begin_again) return {};
  std::optional<std::int64_t> last;
  for (std::size_t i = 0; i < cycles; ++i) {
    if (ranges[i].first > ranges[i].last) continue;
    std::int64_t after = 0, end = 0;
    if (last && ranges[i].first <= *last &&
        (__builtin_add_overflow(*last, 1, &after) ||
         __builtin_sub_overflow(after, ranges[i].first, &offsets[i])))
      return {};
    if (__builtin_add_overflow(ranges[i].last, offsets[i], &end)) return {};
    last = end;
  }
  return offsets;
}

void add_to_steps(RankTrace& trace, std::int64_t offset) {
  for (StepMark& step : trace.steps) step.number += offset;
}

std::string no_such_cycle(int cycle, std::size_t most) {
  return fmt::format("--cycle {}: there {}", cycle,
                     most == 1 ? "is one profile of each process"
                               : fmt::format("are {} cycles of each process at most", most));
}

// Leaves the chosen cycle alone, and says who has none.
void choose_cycle(const std::vector<RankImport>& imports, const AllProfiles& all, int cycle,
                  std::vector<bool>& used_up, std::vector<Warning>& warnings) {
  constexpr std::size_t kMostNamed = 16;
  std::vector<std::int32_t> lacking;
  for (const auto& [key, profiles] : all) {
    bool has_it = false;
    for (std::size_t i = 0; i < profiles.files.size(); ++i) {
      const bool chosen =
          profiles.cycle_of[profiles.are_cycles ? i : 0] == static_cast<std::size_t>(cycle - 1);
      used_up[profiles.files[i]] = !chosen;
      has_it = has_it || chosen;
    }
    if (has_it) continue;
    if (key.first)
      lacking.push_back(key.second);
    else
      warnings.push_back({"profile_cycles",
                          fmt::format("{}: its process has no cycle {}: left out",
                                      imports[profiles.files.front()].trace.file, cycle),
                          kNoRank});
  }
  if (!lacking.empty())
    warnings.push_back(
        {"profile_cycles",
         fmt::format("{} {} {} no cycle {}: left out", lacking.size() == 1 ? "rank" : "ranks",
                     list_numbers(lacking, kMostNamed), lacking.size() == 1 ? "has" : "have", cycle),
         kNoRank});
}

}  // namespace

std::optional<TimeSpan> recorded_span(const RankImport& import) {
  const EventSpan events = span_of_events(import.trace);
  TimeSpan span;
  if (!events.any || __builtin_add_overflow(events.span.begin, import.clock_zero, &span.begin) ||
      __builtin_add_overflow(events.span.end, import.clock_zero, &span.end))
    return std::nullopt;
  return span;
}

void order_by_time(const std::vector<RankImport>& imports, std::vector<std::size_t>& files) {
  std::stable_sort(files.begin(), files.end(), [&](std::size_t a, std::size_t b) {
    const auto left = recorded_span(imports[a]), right = recorded_span(imports[b]);
    return (left ? left->begin : 0) < (right ? right->begin : 0);
  });
}

bool is_later_cycle(const RankImport& first, const RankImport& second) {
  const std::optional<TimeSpan> before = recorded_span(first), after = recorded_span(second);
  // A container's first process is 1 each time that it is started.
  const bool surely_one_process = first.process > 1;
  return before && after && before->end <= after->begin &&
         (surely_one_process || steps_rise(first, second)) && first.clock_name == second.clock_name &&
         first.process == second.process && first.trace.device == second.trace.device;
}

Status join_cycles(std::vector<RankImport>& imports, int cycle, std::vector<Warning>& warnings) {
  AllProfiles all = profiles_among(imports);
  const Profiles* whole = nullptr;
  std::size_t ranks = 0;
  for (const auto& [key, profiles] : all) {
    if (profiles.cycles() > 1) ++ranks;
    if (whole == nullptr || profiles.cycles() > whole->cycles()) whole = &profiles;
  }
  const std::size_t most = whole == nullptr ? 1 : whole->cycles();
  if (cycle > static_cast<int>(most)) return Error{no_such_cycle(cycle, most)};
  if (ranks == 0) return {};
  for (auto& [key, profiles] : all) place_files(imports, *whole, profiles);
  std::vector<bool> used_up(imports.size(), false);
  if (cycle > 0) {
    warnings.push_back({"profile_cycles",
                        fmt::format("cycle {} of {} is read; the others are left out", cycle, most),
                        kNoRank});
    choose_cycle(imports, all, cycle, used_up, warnings);
  } else {
    const std::vector<std::int64_t> offsets = step_offsets(imports, all, most);
    for (const auto& [key, profiles] : all) {
      if (!profiles.are_cycles) continue;
      for (std::size_t i = 0; i < profiles.files.size(); ++i) {
        RankImport& part = imports[profiles.files[i]];
        if (!offsets.empty()) add_to_steps(part.trace, offsets[profiles.cycle_of[i]]);
        if (i > 0) used_up[profiles.files[i]] = append(imports[profiles.files.front()], part);
      }
    }
    warnings.push_back(
        {"profile_cycles",
         fmt::format("{} has up to {} profiles, one after the other: all are read as one recording, with "
                     "nothing recorded between them (--cycle N reads one){}",
                     ranks == 1 ? "a rank" : fmt::format("each of {} ranks", ranks), most,
                     offsets.empty() ? "" : "; step numbers that begin again are counted on"),
         kNoRank});
  }
  std::vector<RankImport> kept;
  for (std::size_t i = 0; i < imports.size(); ++i)
    if (!used_up[i]) kept.push_back(std::move(imports[i]));
  imports = std::move(kept);
  return {};
}

}  // namespace lockstep::analyzer
