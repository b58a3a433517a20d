// What is on a golden picture: NAME.json beside NAME.png says it as a person would ask `lockstep view` for
// it, by flags: {"panel": "Range", "measure": "250ms:300ms"}.
#pragma once

#include <string>
#include <vector>

#include "viewer/panels/panel.h"
#include "viewer/timeline/scene.h"
#include "viewer/views/first_look.h"

namespace lockstep::viewer {

struct GoldenView {
  FirstLookFlags flags;
  bool dark = true;  // "theme"
  // Panels that came after the pictures: each is in its own alone, so that a new tab moves no other picture.
  std::vector<const Panel*> left_out;
};

// The names of all pictures that are described, in alphabetical order.
std::vector<std::string> golden_views();
// Of `scene`, whose costliest collective "collective": "costliest" is. Throws where the description is not
// understood.
GoldenView golden_view(const std::string& name, const Scene& scene);

}  // namespace lockstep::viewer
