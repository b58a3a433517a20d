// Ctrl P is Ctrl P also where one slow frame sees all of it: keys that are let go of in the same frame in
// which a key was pressed.
#pragma once

#include <imgui.h>
#include <imgui_internal.h>

namespace lockstep::viewer {

// Begins Dear ImGui's frame. It looks at Ctrl, Shift, Alt and Super as they are at a frame's end: where one
// of them changes after a key, a button or the wheel, this frame ends before that change, and the next one
// goes on with it. Dear ImGui's queue of events is not empty then.
void begin_frame_of_whole_chords();

// How many of the events, from the first, one frame may see together.
int events_of_one_frame(const ImVector<ImGuiInputEvent>& events);

}  // namespace lockstep::viewer
