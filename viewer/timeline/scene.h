// What the timeline draws from: the loaded run, which never changes, and what the user has done to the view
// of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.h"
#include "viewer/prepared/contents.h"
#include "viewer/prepared/tables.h"
#include "viewer/timeline/folding.h"
#include "viewer/timeline/layout.h"
#include "viewer/timeline/rank_order.h"
#include "viewer/timeline/standings.h"
#include "viewer/timeline/theme.h"
#include "viewer/timeline/timeline.h"
#include "viewer/timeline/wait_chain.h"

namespace lockstep::viewer {

// The arrays of one rank; what they hold is said in contents.h.
struct RankData {
  std::span<const analyzer::Activity> activities;
  std::span<const analyzer::Communication> communications;
  std::span<const analyzer::Computation> computations;
  std::span<const analyzer::HostRange> host_ranges;
  std::span<const analyzer::StepMark> step_marks;
  std::span<const analyzer::CauseSegment> segments;
  std::span<const std::uint32_t> collective_of;
};

// Index of the first communication that begins at `time` or later: they stand in order of their begin.
std::size_t first_communication_from(const RankData& data, Nanoseconds time);

// A prepared run, ready to be drawn. Immutable, and stays where it is: other objects point into it.
class Scene {
 public:
  // Errors: contents that cannot be read, arrays that the file does not hold.
  static Result<std::unique_ptr<Scene>> load(std::shared_ptr<const Tables> tables);
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  // Without its steps and collectives: see below.
  const analyzer::Report& report() const { return contents_.report; }
  const Contents& contents() const { return contents_; }
  const Tables& tables() const { return *tables_; }
  const Timeline& timeline() const { return timeline_; }
  const RankContents& rank(std::size_t index) const { return contents_.ranks[index]; }
  const RankData& data(std::size_t rank) const { return data_[rank]; }
  std::span<const analyzer::CauseSegment> segments(std::size_t rank) const { return data_[rank].segments; }
  std::string_view string(std::uint32_t id) const;
  std::size_t string_count() const { return string_ends_.size(); }

  std::span<const analyzer::StepReport> steps() const { return steps_; }  // sorted by (step, rank)
  // In order of first arrival; an index of it is what all others call a collective.
  std::span<const CollectiveHead> collectives() const { return collectives_; }
  // Index of the collective that the report calls so.
  std::optional<std::uint32_t> find_collective(std::int64_t id) const;
  std::span<const analyzer::CollectiveRank> parts(std::uint32_t collective) const;
  // The same as the report had it, without its group's ranks.
  analyzer::CollectiveReport collective(std::uint32_t index) const;
  std::span<const std::uint32_t> costliest() const { return costliest_; }
  // What ranks are ordered and filtered by.
  const JobFacts& facts() const { return facts_; }

  // The ranks as findings and blame see them: over steady training, where that is told apart.
  const std::vector<analyzer::RankReport>& counted_ranks() const {
    return report().steady ? report().steady->ranks : report().ranks;
  }
  // What the report says of a rank; nullptr if it says nothing.
  const analyzer::RankReport* rank_report(std::size_t rank) const;
  const analyzer::BlameReport* blame(std::size_t rank) const;
  // Where it stands in a job that hung.
  const RankStanding& standing(std::size_t rank) const { return standings_[rank]; }
  // No times at all: dumps of flight recorders.
  bool order_alone() const { return timeline_.order_alone; }
  // Index into Timeline::ranks of a global rank.
  std::optional<std::uint32_t> index_of(std::int32_t rank) const;

  // Index into activities where the item is one.
  std::optional<std::uint32_t> activity_of(const Item& item) const;
  // Where an activity stands on the timeline.
  std::optional<Item> find_activity(std::uint32_t rank, std::uint32_t activity) const;
  // The operation that an activity, or item, is part of: index into collectives().
  std::optional<std::uint32_t> collective_of(std::uint32_t rank, std::uint32_t activity) const;
  std::optional<std::uint32_t> collective_of(const Item& item) const;

 private:
  Scene(std::shared_ptr<const Tables> tables, Contents contents);

  std::shared_ptr<const Tables> tables_;
  Contents contents_;
  Timeline timeline_;
  std::vector<RankData> data_;
  std::span<const std::uint64_t> string_ends_;
  std::span<const char> string_bytes_;
  std::span<const analyzer::StepReport> steps_;
  std::span<const CollectiveHead> collectives_;
  std::span<const analyzer::CollectiveRank> collective_ranks_;
  std::span<const std::uint32_t> costliest_;
  std::vector<std::int64_t> rank_reports_;  // -1: none
  std::vector<std::int64_t> blames_;
  std::vector<RankStanding> standings_;
  JobFacts facts_;
};

// An instant that the user has marked.
struct TimeMark {
  Nanoseconds time = 0;
  std::string note;
};

// An item that a search found.
struct SearchHit {
  Item item;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// What the user sees of it.
struct TimelineState {
  explicit TimelineState(const Timeline& timeline)
      : whole(timeline.focus), reach(timeline.content), view(fit(timeline.focus)), expansion(timeline) {}

  TimeRange whole;  // what the first view shows, and F; of two runs beside each other both
  TimeRange reach;  // how far the view goes: everything that has a time, of two runs in both
  TimeView view;
  int scroll = 0;  // pixels
  Expansion expansion;
  std::optional<Item> hovered;
  std::optional<Item> selected;
  std::optional<TimeRange> measured;
  std::optional<Nanoseconds> measure_from;  // one end of a range whose other end is not yet set
  bool chain_shown = false;
  WaitChain chain;  // of `selected`, where it is shown: follow_chain()
  RankOrder order;
  std::vector<TimeMark> marks;  // sorted by time
  std::string notes;
  std::span<const SearchHit> found;  // the last search's, sorted by begin; for as long as the search lasts
};

// What lies under a pixel.
struct Hit {
  std::optional<std::uint32_t> section;  // Layout::sections; then nothing else is set
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
    return regions.lanes.top +
           static_cast<float>(layout.ranks[rank].y - (layout.is_fixed(rank) ? 0 : state.scroll));
  }
  // From the top of the timeline, at a pixel of the lanes or the gutter.
  int timeline_y(float y) const;
  // What of `area`, the lanes or the gutter, is for the ranks that stay (`fixed`), or for those that scroll.
  Rect part_of(const Rect& area, bool fixed) const;
  // Ranks on the screen, of those that stay or of those that scroll.
  std::span<const std::uint32_t> ranks_on_screen(bool fixed) const;
  const Row& row(std::size_t rank, const RowPlace& place) const {
    return scene.timeline().ranks[rank].lanes[place.lane].rows[place.row];
  }
};

// Boxes are hit where they are drawn, and two pixels around.
Hit hit_test(const Frame& frame, float x, float y);

// The item whose collective is lit: the hovered one if it is part of one, else the selected one.
std::optional<std::uint32_t> lit_collective(const Scene& scene, const TimelineState& state);

}  // namespace lockstep::viewer
