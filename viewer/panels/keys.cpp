#include "viewer/panels/keys.h"

#include "viewer/panels/panel_list.h"

namespace lockstep::viewer {

namespace {

// Those first: they find a panel.
std::vector<KeyHelp> with_keys_of_panels(const std::vector<KeyHelp>& others) {
  std::vector<KeyHelp> keys;
  for (const Panel* const panel : all_panels())
    if (*panel->key.typed != '\0') keys.push_back({panel->key.typed, panel->key.does});
  keys.insert(keys.end(), others.begin(), others.end());
  return keys;
}

}  // namespace

const std::vector<KeyGroup>& key_groups() {
  static const std::vector<KeyGroup> kGroups{
      {"MOVE",
       {{"wheel", "zoom at the pointer (Ctrl: finely)"},
        {"W A S D", "zoom and move"},
        {"drag", "move"},
        {"page up, page down", "scroll through the ranks"},
        {"F", "show the selection, or all"},
        {"Backspace", "back to where you were"}}},
      {"SELECT",
       {{"click", "select; a rank's name closes it"},
        {"double click", "zoom to it"},
        {"Shift drag, R", "measure: every rank's time in that range (R: one end, then the other)"},
        {", .", "previous and next on the same row"},
        {"[ ]", "along the chain of waits: who held this up, and what came of it"},
        {"L", "draw that chain, down to what began it"},
        {"Esc", "drop selection and measure"}}},
      {"FIND", with_keys_of_panels({{"N, Shift N", "next and previous hit"},
                                    {"M", "mark the instant under the pointer (again: remove it)"},
                                    {"Ctrl P", "all commands"}})},
      {"SHOW",
       {{"O", "order ranks by rank, host, group, lost time, waiting time"},
        {"P, right click", "pin the rank under the pointer; on its name, Ctrl click too"},
        {"H, G", "host ranges; counters as graphs"},
        {"C, Shift C", "close or open all ranks; all hosts or groups"},
        {"T", "light and dark"},
        {"?", "this"}}},
      {"RUN",
       {{"Ctrl O", "open another (or drop it here)"}, {"Ctrl R", "open this one again"}, {"Ctrl Q", "quit"}}},
  };
  return kGroups;
}

}  // namespace lockstep::viewer
