// What the timeline draws on. The window draws with Dear ImGui (window/imgui_canvas.h), tests record
// (testing/).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::viewer {

struct Point {
  float x = 0;
  float y = 0;
};

// Pixels [left, right) × [top, bottom).
struct Rect {
  float left = 0;
  float top = 0;
  float right = 0;
  float bottom = 0;
  float width() const { return right - left; }
  float height() const { return bottom - top; }
  bool contains(float x, float y) const { return x >= left && x < right && y >= top && y < bottom; }
  bool operator==(const Rect&) const = default;
};

struct Color {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
  std::uint8_t a = 255;
  bool operator==(const Color&) const = default;
};

enum class Font : std::uint8_t { normal, small, bold };

// Within a layer, boxes are drawn first, then hatching, then lines, then text, whatever the order of the
// calls: so that a frame needs few draw commands.
class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void box(const Rect& rect, Color color) = 0;
  // Diagonal stripes over what is there.
  virtual void hatch(const Rect& rect, Color color) = 0;
  virtual void frame(const Rect& rect, Color color, float thickness) = 0;
  virtual void line(Point from, Point to, Color color, float thickness) = 0;
  virtual void triangle(Point a, Point b, Point c, Color color) = 0;
  // One line; `at` is its upper left corner.
  virtual void text(Point at, std::string_view text, Color color, Font font) = 0;
  virtual float text_width(std::string_view text, Font font) const = 0;
  virtual float text_height(Font font) const = 0;
  // Everything until unclip() is cut to the rectangle (and to the one around it).
  virtual void clip(const Rect& rect) = 0;
  virtual void unclip() = 0;
  // What follows is drawn above all that came before.
  virtual void next_layer() = 0;
};

// As much of the text as fits into `width`, "…" at its end if it was cut; "" if not even that fits. Names may
// hold anything: control characters and broken UTF-8 are shown as such, and of 100 kB only the beginning is
// looked at.
std::string fitted(const Canvas& canvas, std::string_view text, float width, Font font);

// The text in at most `most` lines of `width`, broken between words; what does not fit ends in "…". Of 100 kB
// only the beginning is looked at.
std::vector<std::string> lines_of(const Canvas& canvas, std::string_view text, float width, Font font,
                                  std::size_t most);

}  // namespace lockstep::viewer
