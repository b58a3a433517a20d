// The table of all panels. panels.def is the list that it is made of: a line for each file X_panel.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "viewer/panels/panel.h"

namespace lockstep::viewer {

// In the order of panels.def: that of the palette, and of the tabs in each stack.
std::span<const Panel* const> all_panels();
// Those that there are for one run, or for two that are compared; in the same order.
std::vector<const Panel*> panels_for(bool compared);
// nullptr if no panel has that title.
const Panel* find_panel(std::string_view title);

namespace panels {

#define LOCKSTEP_PANEL(name) extern const Panel name;
#include "viewer/panels/panels.def"

}  // namespace panels

}  // namespace lockstep::viewer
