// Where things stand on a timeline, for scripts that point at them.
#pragma once

#include "viewer/timeline/draw.h"
#include "viewer/timeline/input.h"
#include "viewer/widgets/timeline_pane.h"

namespace lockstep::viewer::journey {

// Of one frame: to be asked anew after anything has moved.
class Places {
 public:
  explicit Places(const TimelinePane& pane);

  float x(Nanoseconds time) const { return static_cast<float>(axis_.x(time)); }
  Nanoseconds time(float x) const { return axis_.time(x); }
  // The rank's first row of that role; empty where it has none.
  Rect row(std::size_t rank, LaneRole role) const;
  // On it, at that time.
  Point point(std::size_t rank, LaneRole role, Nanoseconds time) const;
  // In the middle of the event, of what is seen of it.
  Point point(const Item& item) const;
  // Left of the lanes, where the rank's name stands.
  Point name_of(std::size_t rank) const;
  const Rect& lanes() const { return regions_.lanes; }
  const Rect& minimap() const { return regions_.minimap; }
  // Somewhere on the lanes: shares of their width and height. A whole pixel, as pointers have.
  Point on_lanes(float across, float down) const;
  int height() const { return layout_.height; }  // of all ranks, in pixels

 private:
  Rect placed(std::size_t rank, const RowPlace& row) const;

  const Scene& scene_;
  TimelineState state_;
  Layout layout_;
  Regions regions_;
  TimeAxis axis_;
};

}  // namespace lockstep::viewer::journey
