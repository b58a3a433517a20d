#include "viewer/panels/panel_list.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace lockstep::viewer {
namespace {

constexpr auto kPanels = std::to_array<const Panel*>({
#define LOCKSTEP_PANEL(name) &panels::name,
#include "viewer/panels/panels.def"
});

}  // namespace

std::span<const Panel* const> all_panels() {
  return kPanels;
}

std::vector<const Panel*> panels_for(bool compared) {
  std::vector<const Panel*> there;
  std::copy_if(kPanels.begin(), kPanels.end(), std::back_inserter(there),
               [compared](const Panel* panel) { return compared || panel->runs != PanelRuns::both; });
  return there;
}

const Panel* find_panel(std::string_view title) {
  const auto found =
      std::find_if(kPanels.begin(), kPanels.end(), [&](const Panel* panel) { return panel->title == title; });
  return found == kPanels.end() ? nullptr : *found;
}

}  // namespace lockstep::viewer
