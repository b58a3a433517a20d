// What the timeline draws from: the loaded run, which never changes, and what the user has done to the view
// of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/timeline/folding.h"
#include "viewer/timeline/layout.h"
#include "viewer/timeline/theme.h"
#include "viewer/timeline/timeline.h"

namespace lockstep::viewer {

// A loaded run. Immutable, and stays where it is: other objects point into it.
class Scene {
 public:
  Scene(analyzer::Job job, analyzer::Analysis analysis);
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  const analyzer::Job& job() const { return job_; }
  const analyzer::Report& report() const { return analysis_.report; }
  const analyzer::Analysis& analysis() const { return analysis_; }
  const Timeline& timeline() const { return timeline_; }
  // What the report says of a rank; nullptr if it says nothing.
  const analyzer::RankReport* rank_report(std::size_t rank) const;
  const analyzer::BlameReport* blame(std::size_t rank) const;
  std::string_view string(std::uint32_t id) const;
  const std::vector<analyzer::CauseSegment>& segments(std::size_t rank) const {
    return analysis_.segments[rank];
  }
  // Index into Timeline::ranks of a global rank.
  std::optional<std::uint32_t> index_of(std::int32_t rank) const;
  // The operation that an item is part of: index into Report::collectives.
  std::optional<std::uint32_t> collective_of(const Item& item) const;

 private:
  analyzer::Job job_;
  analyzer::Analysis analysis_;
  Timeline timeline_;
  std::vector<std::int64_t> rank_reports_;  // -1: none
  std::vector<std::int64_t> blames_;
};

// What the user sees of it.
struct TimelineState {
  explicit TimelineState(const Timeline& timeline) : view(fit(timeline.focus)), expansion(timeline) {}

  TimeView view;
  int scroll = 0;  // pixels
  Expansion expansion;
  std::optional<Item> hovered;
  std::optional<Item> selected;
  std::optional<TimeRange> measured;
};

// What lies under a pixel.
struct Hit {
  std::optional<std::uint32_t> rank;
  std::optional<RowPlace> row;
  std::optional<FoldedBox> box;  // of the row
  std::optional<Item> item;      // where the box is a single event
};

// Everything that places one frame.
struct Frame {
  const Scene& scene;
  const TimelineState& state;
  const Layout& layout;
  const Regions& regions;
  const Sizes& sizes;
  const Theme& theme;
  TimeAxis axis;

  // Top of a rank on the screen.
  float rank_top(std::size_t rank) const {
    return regions.lanes.top + static_cast<float>(layout.ranks[rank].y - state.scroll);
  }
  const Row& row(std::size_t rank, const RowPlace& place) const {
    return scene.timeline().ranks[rank].lanes[place.lane].rows[place.row];
  }
};

// Boxes are hit where they are drawn, and two pixels around.
Hit hit_test(const Frame& frame, float x, float y);

// The item whose collective is lit: the hovered one if it is part of one, else the selected one.
std::optional<std::uint32_t> lit_collective(const Scene& scene, const TimelineState& state);

}  // namespace lockstep::viewer
