// The line above everything: which run, the causes' colours, and what is wrong with its files.
#pragma once

#include "viewer/timeline/scene.h"
#include "viewer/timeline/theme.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

// Title of the run, legend of the causes that occur, and a banner where files are damaged or ranks missing.
// `other`: what it is compared with; nullptr: nothing.
void draw_header(const Scene& scene, const Scene* other, const Theme& theme, const Fonts& fonts,
                 float height);
float header_height(const Scene& scene, const Scene* other, const Fonts& fonts);

}  // namespace lockstep::viewer
