// Draws the first picture of a run that is still being read.
#pragma once

#include "viewer/opening/preview.h"
#include "viewer/timeline/canvas.h"
#include "viewer/timeline/theme.h"

namespace lockstep::viewer {

// One row a rank from the top of `area` down: what computed above what communicated, the brighter the more
// events a pixel holds, beside that lane's busiest pixel. Where ranks are more than pixels, one row stands
// for several.
void draw_preview(Canvas& canvas, const RunPreview& preview, const Rect& area, const Theme& theme);

}  // namespace lockstep::viewer
