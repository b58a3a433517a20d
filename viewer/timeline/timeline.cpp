#include "viewer/timeline/timeline.h"

#include <map>

#include "viewer/timeline/standings.h"

namespace lockstep::viewer {

namespace {

// What every rank's counter of a name says, and 0: heights are compared from there.
std::map<std::string, ValueRange, std::less<>> scales_of(const Contents& contents) {
  std::map<std::string, ValueRange, std::less<>> scales;
  for (const RankContents& rank : contents.ranks)
    for (const CounterContents& counter : rank.counters) scales[counter.name].add(counter.range);
  for (auto& [name, scale] : scales) scale.add(0);
  return scales;
}

}  // namespace

CounterSeries series_of(const CounterContents& counter, const Tables& tables) {
  ValueRange scale = counter.range;
  scale.add(0);
  return {tables.array(counter.points), tables.array(counter.blocks), unit_of(counter.name), scale};
}

Timeline make_timeline(const Contents& contents, const Tables& tables) {
  Timeline timeline;
  timeline.content = contents.content;
  timeline.focus = contents.focus;
  timeline.origin = contents.report.origin_aligned_ns;
  timeline.order_alone = holds_order_alone(contents.report);
  const auto scales = scales_of(contents);
  timeline.ranks.reserve(contents.ranks.size());
  for (const RankContents& rank : contents.ranks) {
    RankTracks& tracks = timeline.ranks.emplace_back();
    tracks.rank = rank.rank;
    tracks.steps = tables.array(rank.steps);
    tracks.cause_sums = CauseSums(tables.array(rank.segments), tables.array(rank.cause_begins),
                                  tables.array(rank.cause_sums));
    for (const LaneContents& lane : rank.tracks) {
      TrackLane& track = tracks.lanes.emplace_back(TrackLane{lane.role, lane.job_lane, lane.label, {}});
      for (const RowContents& row : lane.rows) {
        track.rows.push_back({tables.array(row.begin), tables.array(row.end), tables.array(row.busy),
                              tables.array(row.item), tables.array(row.wait)});
      }
    }
    for (const CounterContents& counter : rank.counters) {
      // What was told once has no course. All counters stand in their panel.
      if (counter.points.count < 2 || counter.range.empty()) continue;
      TrackLane& track = tracks.lanes.emplace_back(
          TrackLane{LaneRole::counter, analyzer::kNone, title_of_counter(counter.name), {}});
      track.counter = series_of(counter, tables);
      track.counter.scale = scales.at(counter.name);
    }
  }
  return timeline;
}

}  // namespace lockstep::viewer
