#include "viewer/timeline/timeline.h"

namespace lockstep::viewer {

Timeline make_timeline(const Contents& contents, const Tables& tables) {
  Timeline timeline;
  timeline.content = contents.content;
  timeline.focus = contents.focus;
  timeline.origin = contents.report.origin_aligned_ns;
  timeline.ranks.reserve(contents.ranks.size());
  for (const RankContents& rank : contents.ranks) {
    RankTracks& tracks = timeline.ranks.emplace_back();
    tracks.rank = rank.rank;
    tracks.steps = tables.array(rank.steps);
    tracks.cause_sums = CauseSums(tables.array(rank.segments), tables.array(rank.cause_sums));
    for (const LaneContents& lane : rank.tracks) {
      TrackLane& track = tracks.lanes.emplace_back(TrackLane{lane.role, lane.job_lane, lane.label, {}});
      for (const RowContents& row : lane.rows) {
        track.rows.push_back({tables.array(row.begin), tables.array(row.end), tables.array(row.busy),
                              tables.array(row.item), tables.array(row.wait)});
      }
    }
  }
  return timeline;
}

}  // namespace lockstep::viewer
