// The rows of one rank, from the top: its causes (the step bar), the lanes on which it computed, those on
// which it communicated, and its host threads.
#pragma once

#include <string>
#include <vector>

#include "viewer/prepared/columns.h"
#include "viewer/prepared/prepare.h"

namespace lockstep::viewer {

struct Track {
  LaneRole role = LaneRole::causes;
  std::uint32_t job_lane = analyzer::kNone;
  std::string label;  // of a lane of communication with its groups: "dp · stream 20"
  std::vector<RowColumns> rows;
};

// Causes and devices.
std::vector<Track> analyzed_tracks(const analyzer::RankTrace& trace, const RankAnalysis& analysis);
std::vector<Track> host_tracks(const analyzer::RankTrace& trace);

}  // namespace lockstep::viewer
