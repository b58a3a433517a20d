// What several drawings are made of.
#pragma once

#include <optional>
#include <string_view>

#include "viewer/timeline/draw.h"

namespace lockstep::viewer {

// Where an item stands on the screen, cut to the lanes; empty where its row is not laid out.
std::optional<Rect> rect_of(const Frame& frame, const Item& item);
// The middle of its row, or of the rank's step bar where its row is closed; within what the rank may draw on.
// Nothing where the rank is not shown.
std::optional<float> middle_of(const Frame& frame, const Item& item);
// An instant's place, no further from the screen than lines can be drawn.
float x_of(const Frame& frame, Nanoseconds time);

// Text that ends at `right`; the top of text in the middle of what is `height` high.
void text_right(Canvas& canvas, float right, float y, std::string_view text, Color color, Font font);
float middle(const Canvas& canvas, float top, float height, Font font);

bool on_screen(const TimeAxis& axis, Nanoseconds begin, Nanoseconds end);
void outline(Canvas& canvas, const Rect& rect, Color color, float thickness);
// A label on a patch, kept within the lanes.
void patch(Canvas& canvas, const Frame& frame, float x, float y, std::string_view text, Color color);
// The same beside something at `x`: to its right, or to its left where there is no room.
void patch_beside(Canvas& canvas, const Frame& frame, float x, float away, float y, std::string_view text,
                  Color color);
// A line with a head at `to`.
void arrow(Canvas& canvas, Point from, Point to, Color color, float thickness, float head);

}  // namespace lockstep::viewer
