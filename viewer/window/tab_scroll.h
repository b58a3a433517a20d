// Scrolling the tabs of docked windows where there is no room for all of them.
#pragma once

namespace lockstep::viewer {

// To the tab of a window, in the next frame: Dear ImGui scrolls to a tab that is clicked, and not to one
// whose window is given the focus. Nothing where there is none.
void scroll_to_tab_of(const char* name);

// At once: it takes a third of a second otherwise, in which nobody draws a window that sleeps. Returns
// whether there was anything to scroll.
bool end_tab_scrolls();

}  // namespace lockstep::viewer
