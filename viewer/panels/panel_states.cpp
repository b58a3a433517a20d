#include "viewer/panels/panel_states.h"

#include <algorithm>

#include "viewer/panels/panel_list.h"

namespace lockstep::viewer {

PanelStates::PanelStates(const Scene& scene, bool second) {
  for (const Panel* const panel : all_panels()) {
    const bool of_this_run = !second || panel->runs == PanelRuns::either || panel->runs == PanelRuns::pointed;
    states_.push_back(of_this_run && panel->make_state != nullptr ? panel->make_state(scene) : nullptr);
  }
}

PanelState* PanelStates::find(const Panel& panel) const {
  const std::span<const Panel* const> all = all_panels();
  const auto found = std::find(all.begin(), all.end(), &panel);
  return found == all.end() ? nullptr : states_[static_cast<std::size_t>(found - all.begin())].get();
}

bool PanelStates::busy() const {
  return std::ranges::any_of(states_, [](const auto& state) { return state != nullptr && state->busy(); });
}

void PanelStates::wait() const {
  for (const auto& state : states_)
    if (state != nullptr) state->wait();
}

void PanelStates::keep_in(Session& session) const {
  for (const auto& state : states_)
    if (state != nullptr) state->keep_in(session);
}

void PanelStates::restore_from(const Session& session) const {
  for (const auto& state : states_)
    if (state != nullptr) state->restore_from(session);
}

}  // namespace lockstep::viewer
