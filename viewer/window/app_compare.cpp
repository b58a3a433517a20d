// Two runs beside each other: both in view, folded alike, moved and ordered together.
#include "viewer/panels/panel_list.h"
#include "viewer/window/app.h"

namespace lockstep::viewer {

void App::compare_with(const Scene& other) {
  other_ = std::make_unique<Other>(scene_, other, scale_);
  const auto show_both = [](TimelineState& state, const StepAlignment::Extent& extent) {
    state.whole = extent.whole;
    state.reach = extent.reach;
    state.view = fit(extent.whole);
  };
  show_both(pane_.state(), other_->alignment.extent_in_a());
  show_both(other_->pane.state(), other_->alignment.extent_in_b());
  show_panel(panels::diff.title);
}

// What is open at first in one and closed in the other cannot be compared.
void App::fold_alike() {
  const std::optional<LanesShown> a = pane_.fitting();
  const std::optional<LanesShown> b = other_->pane.fitting();
  if (b && pane_.show_at_most(*b)) busy_ = true;
  if (a && other_->pane.show_at_most(*a)) busy_ = true;
}

// Whichever has moved, by hand, key or command, takes the other along, step beside step.
void App::couple_panes() {
  // Without times there is nothing to go to.
  if (scene_.order_alone() || other_->scene.order_alone()) return;
  TimeView& a = pane_.state().view;
  TimeView& b = other_->pane.state().view;
  const bool a_moved = !(a == other_->coupled_a);
  const bool b_moved = !(b == other_->coupled_b);
  if (b_moved && (!a_moved || second_active_)) {
    a = other_->alignment.view_of_a(b);
  } else if (a_moved) {
    b = other_->alignment.view_of_b(a);
  }
  if (a_moved || b_moved) busy_ = true;
  other_->coupled_a = a;
  other_->coupled_b = b;
}

// Order, filter and pins too: what is compared stands in the same place.
void App::couple_orders() {
  TimelineState& a = pane_.state();
  TimelineState& b = other_->pane.state();
  if (a.order == other_->coupled_order && b.order == other_->coupled_order) return;
  const bool from_b =
      b.order != other_->coupled_order && (a.order == other_->coupled_order || second_active_);
  TimelineState& to = from_b ? a : b;
  const RankOrder& order = from_b ? b.order : a.order;
  // A pin moves nothing else.
  if (order_text(to.order) != order_text(order) || to.order.filter != order.filter) to.scroll = 0;
  to.order = order;
  other_->coupled_order = order;
  busy_ = true;
}

}  // namespace lockstep::viewer
