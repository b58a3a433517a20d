// What the panels of one run keep from one frame to the next.
#pragma once

#include <memory>
#include <vector>

#include "viewer/panels/panel.h"

namespace lockstep::viewer {

class PanelStates {
 public:
  // `scene` outlives it. `second`: it is run B, of which panels that are about A alone keep nothing.
  explicit PanelStates(const Scene& scene, bool second = false);

  // Precondition: the panel keeps a State of this run.
  template <typename State>
  State& get(const Panel& panel) const {
    return dynamic_cast<State&>(*find(panel));
  }
  // nullptr: the panel keeps nothing of this run.
  PanelState* find(const Panel& panel) const;

  bool busy() const;
  void wait() const;
  void keep_in(Session& session) const;
  void restore_from(const Session& session) const;

 private:
  std::vector<std::unique_ptr<PanelState>> states_;  // as all_panels()
};

}  // namespace lockstep::viewer
