// What the timeline shows, as sorted columns: views of a prepared run.
//
// Every rank has, from the top: its causes (the step bar), the lanes on which it computed, those on which it
// communicated, its host threads, and its counters. Items of a row are indices into the rank's arrays
// (Scene); all numbers stay where the analyzer put them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viewer/prepared/cause_sums.h"
#include "viewer/prepared/columns.h"
#include "viewer/prepared/contents.h"
#include "viewer/timeline/counter_value.h"
#include "viewer/timeline/time_axis.h"

namespace lockstep::viewer {

// Of a lane that shows a counter.
struct CounterSeries {
  std::span<const analyzer::CounterPoint> points;  // by time
  std::span<const ValueRange> blocks;              // of the points
  CounterUnit unit;
  ValueRange scale;  // of this counter on all ranks, and 0: heights can be compared
};

struct TrackLane {
  LaneRole role = LaneRole::causes;
  std::uint32_t job_lane = analyzer::kNone;  // RankContents::lanes; kNone for causes
  std::string label;
  std::vector<Row> rows;  // from the top; of host lanes row d holds depth d; of counters there are none
  CounterSeries counter = {};
};

struct RankTracks {
  std::int32_t rank = 0;
  std::vector<TrackLane> lanes;
  std::span<const StepSpan> steps;  // sorted by begin
  CauseSums cause_sums;
};

struct Timeline {
  std::vector<RankTracks> ranks;  // by rank
  TimeRange content;              // everything that has a time
  TimeRange focus;  // what the first view shows: the ranks' windows, without what the hosts did around them
  Nanoseconds origin = 0;    // where the ruler's 0 is: the earliest device activity
  bool order_alone = false;  // nothing has a time: dumps of flight recorders
};

// Its scale: its own range and 0.
CounterSeries series_of(const CounterContents& counter, const Tables& tables);

Timeline make_timeline(const Contents& contents, const Tables& tables);

// One thing on the timeline.
struct Item {
  std::uint32_t rank = 0;  // index into Timeline::ranks
  std::uint32_t lane = 0;  // RankTracks::lanes
  std::uint32_t row = 0;   // TrackLane::rows
  std::uint32_t at = 0;    // index into the row's columns
  bool operator==(const Item&) const = default;
};

}  // namespace lockstep::viewer
