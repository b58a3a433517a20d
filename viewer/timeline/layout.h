// Where everything stands: the regions of the timeline, and the rows of every rank from the top down. In
// whole pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viewer/timeline/canvas.h"
#include "viewer/timeline/rank_order.h"
#include "viewer/timeline/timeline.h"

namespace lockstep::viewer {

// Heights and widths in pixels.
struct Sizes {
  int gutter = 216;  // rank names and lane labels, left of the lanes
  int ruler = 24;
  int minimap_row = 5;     // per rank
  int minimap_least = 22;  // room for the order of ranks beside it
  int minimap_most = 96;
  int padding = 8;
  int step_strip = 15;  // above a rank's cause lane: step numbers, and who waited for it
  int cause = 22;
  int lane = 17;
  int host = 15;
  int host_folded = 7;
  int row_gap = 2;
  int rank_gap = 9;
  int section = 22;  // the line above the ranks of a host or group
};
Sizes scaled(const Sizes& sizes, double scale);
// Lower rows, for more ranks on a screen, and higher ones where there are few.
Sizes compact();
Sizes spacious();
// Of a run without times: ranks as high as it takes to say in several lines where each stands, and room for
// the verdict however few of them are shown.
Sizes wordy();

// The timeline's parts, from the top: minimap, ruler, and below them gutter and lanes side by side.
struct Regions {
  Rect minimap, ruler, gutter, lanes;
};
Regions divide(const Rect& whole, const Sizes& sizes, std::size_t ranks);

// Which ranks, host lanes and counters are open. Ranks are open unless closed; host lanes are folded to a
// line and counters not there unless opened.
class Expansion {
 public:
  explicit Expansion(const Timeline& timeline);
  bool rank_open(std::size_t rank) const { return ranks_[rank]; }
  bool lane_open(std::size_t rank, std::size_t lane) const { return lanes_[rank][lane]; }
  void toggle_rank(std::size_t rank) { ranks_[rank] = !ranks_[rank]; }
  void toggle_lane(std::size_t rank, std::size_t lane) { lanes_[rank][lane] = !lanes_[rank][lane]; }
  // All host lanes open, or closed if they all were.
  void toggle_hosts(const Timeline& timeline) { toggle_all(timeline, LaneRole::host); }
  void toggle_counters(const Timeline& timeline) { toggle_all(timeline, LaneRole::counter); }
  // All lanes of host threads, or of counters.
  void set_all(const Timeline& timeline, LaneRole role, bool open);
  // What the user last wanted of all these lanes; absent: nothing, they are as they fit.
  std::optional<bool> wanted(LaneRole role) const;
  // All these lanes open or closed, as the user wants it.
  void want(const Timeline& timeline, LaneRole role, bool open);
  // All ranks closed to their step bars, or open if they all were.
  void toggle_ranks();

 private:
  void toggle_all(const Timeline& timeline, LaneRole role);

  std::optional<bool> hosts_wanted_, counters_wanted_;
  std::vector<bool> ranks_;
  std::vector<std::vector<bool>> lanes_;
};

struct RowPlace {
  std::uint32_t lane = 0;
  std::uint32_t row = 0;
  int y = 0;  // from the top of the rank
  int height = 0;
};

struct RankPlace {
  int y = 0;                    // from the top of the timeline
  int height = 0;               // 0: not shown
  std::uint32_t first_row = 0;  // Layout::rows
  std::uint32_t row_count = 0;
};

// The line above the ranks of a host or group.
struct SectionPlace {
  int y = 0;
  int height = 0;
  bool open = true;
  std::string title, summary, key;  // RankSection
};

// Where the ranks of a sequence stand. The first `fixed` of them stay at the top, whatever the scroll; below
// them the others scroll.
struct Layout {
  std::vector<RankPlace> ranks;  // as in Timeline::ranks
  std::vector<RowPlace> rows;
  std::vector<std::uint32_t> shown;    // ranks from the top
  std::vector<SectionPlace> sections;  // as in RankSequence::sections
  std::size_t fixed = 0;
  int fixed_height = 0;
  int height = 0;  // of all, the fixed ones too
  bool is_shown(std::size_t rank) const { return ranks[rank].height > 0; }
  bool is_fixed(std::size_t rank) const { return is_shown(rank) && ranks[rank].y < fixed_height; }
};
// `room`: pixels for the ranks; of the pinned ones only so many are fixed as leave a third of it to others.
Layout lay_out(const Timeline& timeline, const Expansion& expansion, const Sizes& sizes,
               const RankSequence& sequence, int room);
// All ranks, by number.
Layout lay_out(const Timeline& timeline, const Expansion& expansion, const Sizes& sizes);

// The sizes at which the ranks fill `whole` best: as spacious as lets all of them fit, else compact.
Sizes choose_sizes(const Timeline& timeline, const Expansion& expansion, double scale, const Rect& whole,
                   const RankSequence& sequence);
Sizes choose_sizes(const Timeline& timeline, const Expansion& expansion, double scale, const Rect& whole);
// Which lanes of all ranks are open at first; each shows those before it too.
enum class LanesShown : std::uint8_t { bars, devices, hosts };
// Host lanes if all of them fit into `whole` at the usual sizes; where not even three ranks fit with their
// lanes, the step bars alone.
LanesShown choose_lanes(const Timeline& timeline, double scale, const Rect& whole);
Expansion expansion_of(const Timeline& timeline, LanesShown shown);
// What is open at first: expansion_of(choose_lanes()).
Expansion choose_expansion(const Timeline& timeline, double scale, const Rect& whole);

// Positions [first, last) in Layout::shown of the ranks that scroll and intersect the pixels [top, bottom) of
// the timeline. Two binary searches.
std::pair<std::size_t, std::size_t> ranks_between(const Layout& layout, int top, int bottom);
// What stands at `y` pixels below the top of the timeline; a rank is set even where there is no row.
struct RowHit {
  std::optional<std::uint32_t> rank;
  std::optional<RowPlace> row;
  std::optional<std::uint32_t> section;  // RankSequence::sections
};
RowHit row_at(const Layout& layout, int y);

}  // namespace lockstep::viewer
