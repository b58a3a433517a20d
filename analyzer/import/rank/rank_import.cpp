#include "analyzer/import/rank/rank_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/model/is_communication.h"
#include "analyzer/model/order.h"
#include "base/counts.h"

namespace lockstep::analyzer {
namespace {

void order_steps(RankImport& rank) {
  auto& steps = rank.trace.steps;
  std::stable_sort(steps.begin(), steps.end(), [](const StepMark& a, const StepMark& b) {
    return std::tie(a.begin, b.end) < std::tie(b.begin, a.end);
  });
  std::vector<StepMark> kept;
  std::vector<std::int64_t> left_out;
  for (const StepMark& step : steps) {
    if (kept.empty() || step.begin >= kept.back().end) {
      kept.push_back(step);
    } else if (step.number != kept.back().number) {  // the same number: one step declared twice
      left_out.push_back(step.number);
    }
  }
  if (!left_out.empty()) {
    rank.warn(
        "steps_overlap",
        fmt::format("{}: {} overlap an earlier step and left out (the first is step {})", rank.trace.file,
                    format_plural(left_out.size(), "step mark", "step marks"), left_out.front()));
  }
  steps = std::move(kept);
}

// A launch belongs to the step whose host range holds the return of the launching call.
void assign_steps(RankTrace& trace) {
  if (trace.steps.empty()) return;
  for (Activity& activity : trace.activities) {
    if (activity.launch_end == kUnknownTime) continue;
    const auto next =
        std::upper_bound(trace.steps.begin(), trace.steps.end(), activity.launch_end,
                         [](Nanoseconds time, const StepMark& step) { return time < step.begin; });
    if (next == trace.steps.begin()) continue;
    const auto step = next - 1;
    if (activity.launch_end <= step->end)
      activity.step = static_cast<std::uint32_t>(step - trace.steps.begin());
  }
}

void nest_host_ranges(std::vector<HostRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const HostRange& a, const HostRange& b) {
    return std::tie(a.lane, a.begin, b.end, a.depth, a.name) <
           std::tie(b.lane, b.begin, a.end, b.depth, b.name);
  });
  // Ranges that only partly overlap are put below each other as well: depth is how many are open, not who is
  // whose child.
  std::vector<Nanoseconds> open;
  std::uint32_t lane = kNone;
  for (HostRange& range : ranges) {
    if (range.lane != lane) open.clear();
    lane = range.lane;
    while (!open.empty() && open.back() <= range.begin &&
           !(range.begin == range.end && open.back() == range.begin))
      open.pop_back();
    range.depth = static_cast<std::uint16_t>(std::min<std::size_t>(open.size(), UINT16_MAX));
    open.push_back(range.end);
  }
}

void mark_communication_lanes(RankTrace& trace) {
  struct Count {
    std::uint64_t communication = 0, other = 0;
  };
  std::vector<Count> counts(trace.lanes.size());
  for (const Activity& activity : trace.activities) {
    Count& count = counts[activity.lane];
    if (is_communication(activity.activity_class)) {
      ++count.communication;
    } else if (activity.activity_class != Class::sync) {
      ++count.other;
    }
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (trace.lanes[i].kind == trace::LaneKind::device_stream && counts[i].communication > counts[i].other)
      trace.lanes[i].kind = trace::LaneKind::communication;
  }
}

}  // namespace

std::uint32_t RankImport::intern_group(const JobGroup& group) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].name == group.name && groups[i].description == group.description &&
        groups[i].ranks == group.ranks && groups[i].own_rank == group.own_rank)
      return static_cast<std::uint32_t>(i);
  }
  groups.push_back(group);
  return static_cast<std::uint32_t>(groups.size() - 1);
}

void RankImport::warn(std::string code, std::string message) {
  warnings.push_back({std::move(code), std::move(message), rank_known ? trace.rank : kNoRank});
}

Result<std::vector<RankImport>> of_one_rank(Result<RankImport> rank) {
  if (!rank.ok()) return rank.error();
  std::vector<RankImport> ranks;
  ranks.push_back(std::move(rank).value());
  return ranks;
}

void finish(RankImport& rank) {
  order_activities(rank.trace);
  order_steps(rank);
  assign_steps(rank.trace);
  nest_host_ranges(rank.trace.host_ranges);
  mark_communication_lanes(rank.trace);
}

}  // namespace lockstep::analyzer
