// What every key does, in words: for the help and the details panel.
#pragma once

#include <vector>

namespace lockstep::viewer {

struct KeyHelp {
  const char* keys;
  const char* what;
};
struct KeyGroup {
  const char* title;
  std::vector<KeyHelp> keys;
};

inline const std::vector<KeyGroup>& key_groups() {
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
        {"Shift drag", "measure: every rank's time in that range"},
        {", .", "previous and next on the same row"},
        {"[ ]", "along the chain of waits: who held this up, and what came of it"},
        {"Esc", "drop the selection"}}},
      {"FIND",
       {{"/", "search"},
        {"N, Shift N", "next and previous hit"},
        {"M", "mark the instant under the pointer (again: remove it)"},
        {"Ctrl P", "all commands"}}},
      {"SHOW",
       {{"H", "host ranges"}, {"C", "close or open all ranks"}, {"T", "light and dark"}, {"?", "this"}}},
  };
  return kGroups;
}

}  // namespace lockstep::viewer
