// What the timeline shows, as sorted columns: made once from a Job and its Analysis, then only read.
//
// Every rank has, from the top: its causes (the step bar), the lanes on which it computed, those on which it
// communicated, and its host threads. Items of a row are indices into the Job's own arrays; all numbers stay
// where the analyzer put them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/model/job.h"
#include "viewer/timeline/cause_sums.h"
#include "viewer/timeline/columns.h"

namespace lockstep::viewer {

// What the items of a lane's rows are indices of.
enum class LaneRole : std::uint8_t {
  causes,         // Analysis::segments
  compute,        // RankTrace::activities
  communication,  // RankTrace::activities
  host,           // RankTrace::host_ranges
};

struct TrackLane {
  LaneRole role = LaneRole::causes;
  std::uint32_t job_lane = analyzer::kNone;  // RankTrace::lanes; kNone for causes
  std::string label;
  std::vector<Row> rows;  // from the top; of host lanes row d holds depth d
};

// A step as it is drawn: the device window where the analysis has one, else the host's range.
struct StepSpan {
  std::int64_t number = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

struct RankTracks {
  std::int32_t rank = 0;
  std::vector<TrackLane> lanes;
  std::vector<StepSpan> steps;
  CauseSums cause_sums;
};

struct Timeline {
  std::vector<RankTracks> ranks;  // as in Job::ranks
  TimeRange content;              // everything that has a time
  TimeRange focus;  // what the first view shows: the ranks' windows, without what the hosts did around them
  Nanoseconds origin = 0;  // where the ruler's 0 is: the earliest device activity
};

Timeline make_timeline(const analyzer::Job& job, const analyzer::Analysis& analysis);

// One thing on the timeline.
struct Item {
  std::uint32_t rank = 0;  // index into Timeline::ranks
  std::uint32_t lane = 0;  // RankTracks::lanes
  std::uint32_t row = 0;   // TrackLane::rows
  std::uint32_t at = 0;    // index into the row's columns
  bool operator==(const Item&) const = default;
};

// Index into RankTrace::activities where the item is one.
std::optional<std::uint32_t> activity_of(const Timeline& timeline, const Item& item);
// Where an activity stands on the timeline.
std::optional<Item> find_activity(const Timeline& timeline, const analyzer::Job& job, std::uint32_t rank,
                                  std::uint32_t activity);
// Index into Report::collectives of the operation that an activity is part of.
std::optional<std::uint32_t> collective_of(const analyzer::Job& job, const analyzer::Analysis& analysis,
                                           std::uint32_t rank, std::uint32_t activity);

}  // namespace lockstep::viewer
