#include "viewer/window/apply_first_look.h"

namespace lockstep::viewer {

void apply_first_look(const FirstLook& look, App& app) {
  if (look.range) app.state().view = clamp(fit(*look.range, 0), app.state().reach);
  RankOrder order = app.state().order;
  if (look.order) {
    order.by = look.order->by;
    order.group_kind = look.order->group_kind;
  }
  if (look.filter) order.filter = *look.filter;
  if (!look.pinned.empty()) order.pinned = look.pinned;
  app.set_order(order);
  for (const LaneRole role : look.open) {
    app.pane().open_at_first(role);
    if (app.second_pane() != nullptr) app.second_pane()->open_at_first(role);
  }
  if (look.chain) app.state().chain_shown = true;
  if (look.collective) app.execute({.collective = look.collective, .range = look.range});
  if (look.measured) app.state().measured = look.measured;
  if (!look.search.empty()) app.search().set_text(look.search);
  if (!look.panel.empty()) app.show_panel(look.panel);
  app.execute(look.go_to);
}

}  // namespace lockstep::viewer
