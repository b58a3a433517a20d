// The table of all panels: a line here and one in panel_list.cpp for each file in panels/.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "viewer/panels/panel.h"

namespace lockstep::viewer {

// In the order of the palette, and of the tabs in each stack.
std::span<const Panel* const> all_panels();
// Those that there are for one run, or for two that are compared; in the same order.
std::vector<const Panel*> panels_for(bool compared);
// nullptr if no panel has that title.
const Panel* find_panel(std::string_view title);

namespace panels {

extern const Panel overview;
extern const Panel findings;
extern const Panel collectives;
extern const Panel search;
extern const Panel details;
extern const Panel range;
extern const Panel notes;
extern const Panel diff;
extern const Panel steps;
extern const Panel imbalance;
extern const Panel counters;

}  // namespace panels

}  // namespace lockstep::viewer
