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

// With the keys of panels.
const std::vector<KeyGroup>& key_groups();

}  // namespace lockstep::viewer
