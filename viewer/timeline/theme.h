// Colours. A cause has the colour that it has in every other output (analyzer/report/palette.h); everything
// that is not a cause is grey, so that causes are what is seen.
#pragma once

#include <string_view>

#include "analyzer/model/job.h"
#include "analyzer/report/report.h"
#include "viewer/timeline/canvas.h"

namespace lockstep::viewer {

struct Theme {
  bool dark = true;
  Color background;  // behind lanes
  Color panel;       // gutter, ruler, panels
  Color stripe;      // behind every row, so that an empty lane is seen as empty
  Color edge;        // borders, rank separators
  Color grid;        // ruler lines across the lanes
  Color text;
  Color dim_text;
  Color on_box;  // text on coloured boxes
  Color host;    // host ranges
  Color accent;  // selection
  Color lit;     // the collective under the cursor
  Color found;   // what a search found
  Color warning;
};
Theme dark_theme();
Theme light_theme();

Color with_alpha(Color color, double alpha);    // 0 to 1
Color mix(Color from, Color to, double share);  // 0: from, 1: to; opaque
Color cause_color(const Theme& theme, analyzer::Cause cause);
// What wall time was spent on: the same in both themes.
Color spending_color(analyzer::Spending spending);
// A cause that is waiting, not work: drawn hatched.
bool is_waiting(analyzer::Cause cause);
// Neighbouring kernels differ slightly, the same name always looks the same; no name: the class' own colour.
Color activity_color(const Theme& theme, analyzer::Class activity_class, std::string_view name);
Color host_color(const Theme& theme, analyzer::HostKind kind, std::string_view name);
// Black or white, whichever is read better on `background` (WCAG relative luminance).
Color readable_on(Color background);

}  // namespace lockstep::viewer
