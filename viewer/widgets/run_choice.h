// Which of two compared runs a panel is about: said at its top, and chosen there where it can show both.
#pragma once

#include "viewer/timeline/scene.h"
#include "viewer/timeline/theme.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

// What a run is called: the last part of its path. Of a path of nothing but slashes "run".
std::string run_name(const Scene& scene);

// "A before   B after"; a click chooses. Returns whether it is B.
bool choose_run(const Scene& a, const Scene& b, bool second, const Theme& theme, const Fonts& fonts);
// "A before": of a panel that shows one run alone.
void say_run(const char* letter, const Scene& scene, const Theme& theme, const Fonts& fonts);
// "A before   B after": of one that shows both.
void say_runs(const Scene& a, const Scene& b, const Theme& theme, const Fonts& fonts);

}  // namespace lockstep::viewer
