// Dear ImGui in the theme's colours, flat and quiet.
#pragma once

#include "viewer/timeline/theme.h"

namespace lockstep::viewer {

void apply_style(const Theme& theme, float scale);

}  // namespace lockstep::viewer
