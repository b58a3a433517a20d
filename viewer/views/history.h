// Where the user was before: Backspace goes there.
#pragma once

#include <vector>

#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

class ViewHistory {
 public:
  // To be called whenever the view may have changed. Movements that follow each other within half a second
  // are one, so that a turn of the wheel is undone at once.
  void note(const TimelineState& state, double seconds);
  // The place before the present one; false where there is none.
  bool back(TimelineState& state);
  std::size_t size() const { return places_.size(); }

 private:
  struct Place {
    TimeView view;
    int scroll = 0;
  };
  static bool same(const Place& place, const TimelineState& state);

  static constexpr std::size_t kMost = 200;
  static constexpr double kSettled = 0.5;  // seconds
  std::vector<Place> places_;              // the last one is where the user is
  double changed_at_ = 0;
  bool moving_ = false;
};

}  // namespace lockstep::viewer
