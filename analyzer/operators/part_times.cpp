#include "analyzer/operators/part_times.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "analyzer/intervals/interval_set.h"

namespace lockstep::analyzer {
namespace {

// A piece of a thread's time that was one part's.
struct Piece {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Part part;
};
using LanePieces = std::vector<Piece>;  // sorted, disjoint

bool is_part(const HostRange& range) {
  return range.kind == HostKind::module || range.kind == HostKind::operation;
}

// Of the ranges of one lane, sorted by (begin, end from the latest).
LanePieces pieces_of(std::span<const HostRange> ranges) {
  struct Open {
    Nanoseconds end = 0;
    Part part;
  };
  LanePieces pieces;
  std::vector<Open> open;
  Nanoseconds now = 0;
  const auto go_on_to = [&](Nanoseconds time) {
    if (!open.empty() && now < time) pieces.push_back({now, time, open.back().part});
    now = std::max(now, time);
  };
  const auto close_until = [&](Nanoseconds time) {
    while (!open.empty() && open.back().end <= time) {
      go_on_to(open.back().end);
      open.pop_back();
    }
  };
  for (const HostRange& range : ranges) {
    if (!is_part(range)) continue;
    close_until(range.begin);
    if (open.empty()) now = range.begin;
    go_on_to(range.begin);
    Part part = open.empty() ? Part{} : open.back().part;
    if (range.kind == HostKind::module) {
      part = {range.name, 0};
    } else if (part.operation == 0) {
      part.operation = range.name;
    }
    open.push_back({range.end, part});
  }
  while (!open.empty()) {
    go_on_to(open.back().end);
    open.pop_back();
  }
  return pieces;
}

std::vector<LanePieces> pieces_by_lane(const RankTrace& rank) {
  std::vector<LanePieces> lanes;
  for (auto begin = rank.host_ranges.begin(); begin != rank.host_ranges.end();) {
    const auto end =
        std::find_if(begin, rank.host_ranges.end(),
                     [lane = begin->lane](const HostRange& range) { return range.lane != lane; });
    lanes.push_back(pieces_of({begin, end}));
    begin = end;
  }
  return lanes;
}

// In a profile of the CPU alone the operators themselves are the computations (docs/metrics.md,
// "Activities").
class OperatorNames {
 public:
  explicit OperatorNames(const StringTable& strings) : strings_(strings) {}
  bool is_operator(const Activity& activity) {
    if (activity.compute != kNone) return false;
    const auto [where, fresh] = known_.emplace(activity.name, false);
    if (fresh) where->second = strings_.view(activity.name).find("::") != std::string_view::npos;
    return where->second;
  }

 private:
  const StringTable& strings_;
  std::unordered_map<std::uint32_t, bool> known_;
};

bool computes_itself(const RankTrace& rank, const Activity& activity) {
  return rank.lanes[activity.lane].kind == trace::LaneKind::compute_thread;
}

const Piece* piece_at(const std::vector<LanePieces>& lanes, Nanoseconds time) {
  for (const LanePieces& pieces : lanes) {
    const auto after = std::upper_bound(pieces.begin(), pieces.end(), time,
                                        [](Nanoseconds t, const Piece& piece) { return t < piece.begin; });
    if (after != pieces.begin() && time < std::prev(after)->end) return &*std::prev(after);
  }
  return nullptr;
}

}  // namespace

bool has_modules(const PartTimes& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.first.module != 0; });
}

PartTimes times_of_parts(const RankTrace& rank, const StringTable& strings,
                         std::span<const std::int64_t> steps) {
  std::unordered_map<std::int64_t, std::size_t> place_of;  // by number
  for (std::size_t i = 0; i < steps.size(); ++i) place_of.emplace(steps[i], i);
  constexpr std::size_t kNotAsked = static_cast<std::size_t>(-1);
  std::vector<std::size_t> place;  // by index of the rank's steps
  for (const StepMark& step : rank.steps) {
    const auto found = place_of.find(step.number);
    place.push_back(found == place_of.end() ? kNotAsked : found->second);
  }
  PartTimes times;
  const auto add = [&](const Part& part, std::size_t step, std::int64_t ns) {
    if (step >= place.size() || place[step] == kNotAsked || ns == 0) return;
    std::vector<std::int64_t>& of_part = times[part];
    of_part.resize(steps.size());
    of_part[place[step]] += ns;
  };
  const auto step_at = [&](Nanoseconds time) {
    const auto after = std::upper_bound(rank.steps.begin(), rank.steps.end(), time,
                                        [](Nanoseconds t, const StepMark& step) { return t < step.begin; });
    return after == rank.steps.begin() || time >= std::prev(after)->end
               ? kNotAsked
               : static_cast<std::size_t>(std::prev(after) - rank.steps.begin());
  };

  const std::vector<LanePieces> lanes = pieces_by_lane(rank);
  const bool has_ranges =
      std::any_of(lanes.begin(), lanes.end(), [](const LanePieces& lane) { return !lane.empty(); });
  if (!has_ranges && rank.device != "cpu") return times;  // many kernels, of no part
  OperatorNames operators(strings);
  IntervalSet computing;
  for (const Activity& activity : rank.activities) {
    if (activity.activity_class != Class::compute) continue;
    if (computes_itself(rank, activity)) {
      if (operators.is_operator(activity)) {
        const Piece* const piece = piece_at(lanes, activity.begin);
        add({piece != nullptr ? piece->part.module : 0, activity.name}, activity.step,
            activity.end - activity.begin);
      } else {
        computing.append(activity.begin, activity.end);
      }
    } else if (activity.launch_begin != kUnknownTime && activity.step != kNone) {
      if (const Piece* const piece = piece_at(lanes, activity.launch_begin))
        add(piece->part, activity.step, activity.end - activity.begin);
    }
  }
  if (computing.empty()) return times;
  const CoverageIndex computed(computing);
  for (const LanePieces& pieces : lanes)
    for (const Piece& piece : pieces)
      add(piece.part, step_at(piece.begin), computed.within(piece.begin, piece.end));
  return times;
}

}  // namespace lockstep::analyzer
