#include "viewer/views/history.h"

namespace lockstep::viewer {

bool ViewHistory::same(const Place& place, const TimelineState& state) {
  return place.view.begin == state.view.begin && place.view.fraction == state.view.fraction &&
         place.view.span == state.view.span && place.scroll == state.scroll;
}

void ViewHistory::note(const TimelineState& state, double seconds) {
  if (places_.empty()) {
    places_.push_back({state.view, state.scroll});
    return;
  }
  if (same(places_.back(), state)) {
    if (seconds - changed_at_ > kSettled) moving_ = false;
    return;
  }
  // The first of a movement leaves a place behind; the others move on from there.
  if (moving_ && seconds - changed_at_ <= kSettled) {
    places_.back() = {state.view, state.scroll};
  } else {
    places_.push_back({state.view, state.scroll});
    if (places_.size() > kMost) places_.erase(places_.begin());
  }
  moving_ = true;
  changed_at_ = seconds;
}

bool ViewHistory::back(TimelineState& state) {
  if (places_.size() < 2) return false;
  places_.pop_back();
  state.view = places_.back().view;
  state.scroll = places_.back().scroll;
  moving_ = false;
  return true;
}

}  // namespace lockstep::viewer
