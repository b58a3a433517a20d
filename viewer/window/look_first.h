// What somebody wants to see first, brought into view.
#pragma once

#include "viewer/views/first_look.h"
#include "viewer/window/app.h"

namespace lockstep::viewer {

// Before the first frame.
void look_first(const FirstLook& look, App& app);

}  // namespace lockstep::viewer
