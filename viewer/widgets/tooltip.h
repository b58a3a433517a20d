// What stands beside the pointer over the lanes.
#pragma once

#include "viewer/timeline/scene.h"
#include "viewer/timeline/theme.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

// Of what is under the pointer, which is at `time`.
void draw_tooltip(const Scene& scene, const Hit& hit, Nanoseconds time, const Theme& theme,
                  const Fonts& fonts);

}  // namespace lockstep::viewer
