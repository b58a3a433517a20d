#include "viewer/timeline/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace lockstep::viewer {

namespace {

using analyzer::Activity;
using analyzer::Class;
using analyzer::kNone;
using analyzer::RankTrace;

bool is_communication(const Activity& activity) {
  return activity.activity_class == Class::collective || activity.activity_class == Class::p2p;
}

// [rank][activity]: its waiting part, as the analysis has it.
std::vector<std::vector<std::uint64_t>> waits_of(const analyzer::Job& job, const analyzer::Report& report) {
  std::map<std::int32_t, std::size_t> index_of;
  std::vector<std::vector<std::uint64_t>> waits;
  for (const RankTrace& trace : job.ranks) {
    index_of.emplace(trace.rank, waits.size());
    waits.emplace_back(trace.activities.size(), 0);
  }
  for (const analyzer::CollectiveReport& collective : report.collectives) {
    for (const analyzer::CollectiveRank& part : collective.ranks) {
      const auto rank = index_of.find(part.rank);
      if (rank == index_of.end() || part.activity >= waits[rank->second].size()) continue;
      waits[rank->second][part.activity] =
          static_cast<std::uint64_t>(std::max<std::int64_t>(part.wait_ns, 0));
    }
  }
  return waits;
}

// By rank: the device windows of its steps.
std::map<std::int32_t, std::vector<StepSpan>> steps_of(const analyzer::Report& report) {
  std::map<std::int32_t, std::vector<StepSpan>> steps;
  for (const analyzer::StepReport& step : report.steps) {
    steps[step.rank].push_back({step.step, saturating_add(report.origin_aligned_ns, step.begin_ns),
                                saturating_add(report.origin_aligned_ns, step.end_ns)});
  }
  return steps;
}

TrackLane cause_lane(const std::vector<analyzer::CauseSegment>& segments, RankTracks& tracks) {
  TrackLane lane;
  lane.role = LaneRole::causes;
  lane.label = "cause";
  std::vector<Event> events;
  events.reserve(segments.size());
  tracks.cause_sums = CauseSums(segments);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    events.push_back({segments[i].begin, segments[i].end, static_cast<std::uint32_t>(i), 0});
  }
  lane.rows = make_rows(std::move(events));
  return lane;
}

std::vector<TrackLane> device_lanes(const RankTrace& trace, const std::vector<std::uint64_t>& waits) {
  struct Found {
    std::vector<Event> events;
    std::size_t communication = 0;
  };
  std::map<std::uint32_t, Found> by_lane;
  for (std::size_t i = 0; i < trace.activities.size(); ++i) {
    const Activity& activity = trace.activities[i];
    Found& found = by_lane[activity.lane];
    found.events.push_back({activity.begin, activity.end, static_cast<std::uint32_t>(i), 0});
    if (is_communication(activity)) ++found.communication;
  }
  std::vector<TrackLane> lanes;
  for (auto& [index, found] : by_lane) {
    TrackLane lane;
    lane.job_lane = index;
    const bool declared =
        index < trace.lanes.size() && trace.lanes[index].kind == trace::LaneKind::communication;
    lane.role = declared || found.communication * 2 > found.events.size() ? LaneRole::communication
                                                                          : LaneRole::compute;
    lane.label = index < trace.lanes.size() ? trace.lanes[index].name : fmt::format("lane {}", index);
    lane.rows = make_rows(std::move(found.events), trace.resolution_ns);
    for (Row& row : lane.rows) {
      std::uint64_t sum = 0;
      row.wait.reserve(row.size());
      for (std::size_t i = 0; i < row.size(); ++i) {
        sum += std::min(waits[row.item[i]], distance(row.begin[i], row.end[i]));
        row.wait.push_back(sum);
      }
    }
    lanes.push_back(std::move(lane));
  }
  std::stable_sort(lanes.begin(), lanes.end(),
                   [](const TrackLane& a, const TrackLane& b) { return a.role < b.role; });
  return lanes;
}

std::vector<TrackLane> host_lanes(const RankTrace& trace) {
  std::map<std::uint32_t, std::vector<Event>> by_lane;
  for (std::size_t i = 0; i < trace.host_ranges.size(); ++i) {
    const analyzer::HostRange& range = trace.host_ranges[i];
    by_lane[range.lane].push_back({range.begin, range.end, static_cast<std::uint32_t>(i), range.depth});
  }
  std::vector<TrackLane> lanes;
  for (auto& [index, events] : by_lane) {
    TrackLane lane;
    lane.role = LaneRole::host;
    lane.job_lane = index;
    lane.label =
        (index < trace.lanes.size() ? trace.lanes[index].name : fmt::format("thread {}", index)) + " (host)";
    lane.rows = make_rows(std::move(events), trace.resolution_ns);
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

void extend(TimeRange& range, Nanoseconds begin, Nanoseconds end) {
  range.begin = std::min(range.begin, begin);
  range.end = std::max(range.end, end);
}

}  // namespace

Timeline make_timeline(const analyzer::Job& job, const analyzer::Analysis& analysis) {
  const analyzer::Report& report = analysis.report;
  Timeline timeline;
  timeline.content = {std::numeric_limits<Nanoseconds>::max(), std::numeric_limits<Nanoseconds>::min()};
  timeline.focus = timeline.content;
  timeline.origin = report.origin_aligned_ns;
  const std::vector<std::vector<std::uint64_t>> waits = waits_of(job, report);
  std::map<std::int32_t, std::vector<StepSpan>> steps = steps_of(report);
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const RankTrace& trace = job.ranks[r];
    RankTracks tracks;
    tracks.rank = trace.rank;
    if (r < analysis.segments.size() && !analysis.segments[r].empty()) {
      tracks.lanes.push_back(cause_lane(analysis.segments[r], tracks));
    }
    for (TrackLane& lane : device_lanes(trace, waits[r])) tracks.lanes.push_back(std::move(lane));
    for (TrackLane& lane : host_lanes(trace)) tracks.lanes.push_back(std::move(lane));

    tracks.steps = std::move(steps[trace.rank]);
    if (tracks.steps.empty()) {
      for (const analyzer::StepMark& step : trace.steps)
        tracks.steps.push_back({step.number, step.begin, step.end});
    }
    std::sort(tracks.steps.begin(), tracks.steps.end(),
              [](const StepSpan& a, const StepSpan& b) { return a.begin < b.begin; });

    for (const TrackLane& lane : tracks.lanes) {
      for (const Row& row : lane.rows) {
        if (row.size() == 0) continue;
        extend(timeline.content, row.begin.front(), row.end.back());
        if (lane.role != LaneRole::host) extend(timeline.focus, row.begin.front(), row.end.back());
      }
    }
    for (const StepSpan& step : tracks.steps) extend(timeline.content, step.begin, step.end);
    timeline.ranks.push_back(std::move(tracks));
  }
  if (timeline.content.begin > timeline.content.end) timeline.content = {timeline.origin, timeline.origin};
  if (timeline.focus.begin > timeline.focus.end) timeline.focus = timeline.content;
  return timeline;
}

std::optional<std::uint32_t> activity_of(const Timeline& timeline, const Item& item) {
  const TrackLane& lane = timeline.ranks[item.rank].lanes[item.lane];
  if (lane.role != LaneRole::compute && lane.role != LaneRole::communication) return std::nullopt;
  return lane.rows[item.row].item[item.at];
}

std::optional<Item> find_activity(const Timeline& timeline, const analyzer::Job& job, std::uint32_t rank,
                                  std::uint32_t activity) {
  if (rank >= timeline.ranks.size() || activity >= job.ranks[rank].activities.size()) return std::nullopt;
  const Activity& wanted = job.ranks[rank].activities[activity];
  const std::vector<TrackLane>& lanes = timeline.ranks[rank].lanes;
  for (std::uint32_t l = 0; l < lanes.size(); ++l) {
    if (lanes[l].job_lane != wanted.lane || lanes[l].role == LaneRole::host ||
        lanes[l].role == LaneRole::causes)
      continue;
    for (std::uint32_t r = 0; r < lanes[l].rows.size(); ++r) {
      const Row& row = lanes[l].rows[r];
      // Items of a row are in order of their index: activities are sorted by begin, as rows are. Ties may be
      // swapped.
      auto at = static_cast<std::size_t>(std::lower_bound(row.begin.begin(), row.begin.end(), wanted.begin) -
                                         row.begin.begin());
      for (; at < row.size() && row.begin[at] <= std::max(wanted.end, wanted.begin); ++at) {
        if (row.item[at] == activity) return Item{rank, l, r, static_cast<std::uint32_t>(at)};
      }
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> collective_of(const analyzer::Job& job, const analyzer::Analysis& analysis,
                                           std::uint32_t rank, std::uint32_t activity) {
  const std::uint32_t communication = job.ranks[rank].activities[activity].communication;
  if (rank >= analysis.collective_of.size() || communication >= analysis.collective_of[rank].size())
    return std::nullopt;
  const std::uint32_t collective = analysis.collective_of[rank][communication];
  if (collective >= analysis.report.collectives.size()) return std::nullopt;
  return collective;
}

}  // namespace lockstep::viewer
