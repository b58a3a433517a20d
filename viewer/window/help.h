// All keys, over everything else.
#pragma once

#include "viewer/timeline/theme.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

// `open` is cleared when it is closed.
void draw_help(bool& open, const Theme& theme, const Fonts& fonts);

}  // namespace lockstep::viewer
