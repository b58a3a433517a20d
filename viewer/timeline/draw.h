// Draws one frame of the timeline. Each function draws one part of it; draw_timeline() draws them all.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viewer/timeline/canvas.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

// The whole run at a glance: one thin row a rank, coloured by the cause that prevails in each pixel. Prepared
// once per size; drawing it costs its boxes.
class Minimap {
 public:
  // `shown`: its rows, from the top (Layout::shown).
  void prepare(const Scene& scene, const Rect& region, const Theme& theme,
               std::span<const std::uint32_t> shown);
  void draw(Canvas& canvas, const Frame& frame) const;
  // Axis of the whole run on the region.
  TimeAxis axis(const Scene& scene, const Rect& region) const;

 private:
  struct Box {
    Rect rect;
    Color color;
  };
  Rect region_;
  std::vector<std::uint32_t> shown_;
  bool dark_ = true;
  bool prepared_ = false;
  std::vector<Box> boxes_;
};

// The ground of every row, below the ruler's grid.
void draw_stripes(Canvas& canvas, const Frame& frame);
void draw_ruler(Canvas& canvas, const Frame& frame);
// In place of ruler, lanes and map where a run has no times (Scene::order_alone): the verdict, and where each
// rank stands.
void draw_standings(Canvas& canvas, const Frame& frame);
// Rank names, lane labels and the report's figures.
void draw_gutter(Canvas& canvas, const Frame& frame);
// The lines above hosts and groups; and that no rank is shown, where that is so.
void draw_sections(Canvas& canvas, const Frame& frame);
void draw_ranks(Canvas& canvas, const Frame& frame);
void draw_row(Canvas& canvas, const Frame& frame, std::size_t rank, const RowPlace& place,
              std::optional<std::uint32_t> lit);
// The lane of a counter.
void draw_counter_row(Canvas& canvas, const Frame& frame, const CounterSeries& counter, const Rect& area);
// The step bar.
void draw_cause_row(Canvas& canvas, const Frame& frame, std::size_t rank, const Row& row, const Rect& area);
// One operation on all ranks: frames, the moment at which the last one arrived, and who that was.
void draw_collective(Canvas& canvas, const Frame& frame, std::uint32_t collective);
// Messages in view, from the sender to the receiver; the lit one stands out.
void draw_messages(Canvas& canvas, const Frame& frame, std::optional<std::uint32_t> lit);
// The chain of waits from the selection, where it is asked for: from each that waited to who held it up.
void draw_chain(Canvas& canvas, const Frame& frame);
// Where the ranks on the screen stand among all, right of the lanes; nothing where all fit.
void draw_scroll_bar(Canvas& canvas, const Frame& frame);
// Its thumb; empty where all fit.
Rect scroll_thumb(const Frame& frame);
// What a search found: a bar above each box that is on the screen, and ticks along the ruler. One a pixel.
void draw_found(Canvas& canvas, const Frame& frame);
// Selection, measured range, and the instant under the pointer (absent: no pointer).
void draw_marks(Canvas& canvas, const Frame& frame, std::optional<float> pointer_x);

void draw_timeline(Canvas& canvas, const Frame& frame, const Minimap& minimap,
                   std::optional<float> pointer_x);

// What stands in a box: the kernel's or range's name, or "all_reduce #12" for a collective.
std::string item_label(const Scene& scene, const Item& item);
// How far the rank's times may be off the job's: its clock's uncertainty, and the timestamps' resolution
// where that is coarser than a nanosecond.
std::int64_t clock_error(const Scene& scene, std::size_t rank);
// Whether it is as wide as two pixels.
bool is_clock_error_visible(const Frame& frame, std::size_t rank);
// Cause, or class of activity, or "host range": what the item is.
std::string item_kind(const Scene& scene, const Item& item);

}  // namespace lockstep::viewer
