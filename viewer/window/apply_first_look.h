// Shows what the command line asks to see first.
#pragma once

#include "viewer/views/first_look.h"
#include "viewer/window/app.h"

namespace lockstep::viewer {

// Before the first frame.
void apply_first_look(const FirstLook& look, App& app);

}  // namespace lockstep::viewer
