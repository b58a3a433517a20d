// What stands above everything in a window: what the import could not read, and ranks that are not there. All
// warnings stand in the overview.
#pragma once

#include <cstddef>
#include <string>

#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

struct Damages {
  std::string first;  // "B: " and so on where there are two runs, and the message, cut to 1,000 bytes
  std::size_t count = 0;
};

// Of one run, or of two that are compared (`other` may be null). What is lost comes before what was assumed
// of data that is all there. Costs a look at each warning and copies one text: for every frame.
Damages damages_of(const Scene& run, const Scene* other);

}  // namespace lockstep::viewer
