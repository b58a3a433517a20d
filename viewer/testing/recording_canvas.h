// A canvas that remembers what was drawn. Every character is seven pixels wide and every line twelve high.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "viewer/timeline/canvas.h"

namespace lockstep::viewer {

class RecordingCanvas final : public Canvas {
 public:
  enum class Shape { box, hatch, frame, line, triangle, text };
  struct Call {
    Shape shape = Shape::box;
    Rect rect;  // of a line: from and to; of a triangle: its bounds; of a text: where it stands
    Color color;
    std::string text;
    Rect clip;  // what the call was cut to
    int layer = 0;
  };
  static constexpr float kCharacter = 7;
  static constexpr float kLine = 12;

  void box(const Rect& rect, Color color) override { add({Shape::box, rect, color, {}, {}, 0}); }
  void hatch(const Rect& rect, Color color) override { add({Shape::hatch, rect, color, {}, {}, 0}); }
  void frame(const Rect& rect, Color color, float) override { add({Shape::frame, rect, color, {}, {}, 0}); }
  void line(Point from, Point to, Color color, float) override {
    add({Shape::line, {from.x, from.y, to.x, to.y}, color, {}, {}, 0});
  }
  void triangle(Point a, Point b, Point c, Color color) override {
    add({Shape::triangle,
         {std::min({a.x, b.x, c.x}), std::min({a.y, b.y, c.y}), std::max({a.x, b.x, c.x}),
          std::max({a.y, b.y, c.y})},
         color,
         {},
         {},
         0});
  }
  void text(Point at, std::string_view text, Color color, Font font) override {
    add({Shape::text,
         {at.x, at.y, at.x + text_width(text, font), at.y + kLine},
         color,
         std::string(text),
         {},
         0});
  }
  // Characters, not bytes.
  float text_width(std::string_view text, Font) const override {
    const auto starts = std::count_if(text.begin(), text.end(),
                                      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    return kCharacter * static_cast<float>(starts);
  }
  float text_height(Font) const override { return kLine; }
  void clip(const Rect& rect) override {
    const Rect around = clips_.empty() ? kEverywhere : clips_.back();
    clips_.push_back({std::max(rect.left, around.left), std::max(rect.top, around.top),
                      std::min(rect.right, around.right), std::min(rect.bottom, around.bottom)});
  }
  void unclip() override { clips_.pop_back(); }
  void next_layer() override { ++layer_; }

  const std::vector<Call>& calls() const { return calls_; }
  bool clips_closed() const { return clips_.empty(); }
  std::vector<Call> of(Shape shape) const {
    std::vector<Call> found;
    std::copy_if(calls_.begin(), calls_.end(), std::back_inserter(found),
                 [shape](const Call& call) { return call.shape == shape; });
    return found;
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> found;
    for (const Call& call : calls_) {
      if (call.shape == Shape::text) found.push_back(call.text);
    }
    return found;
  }

 private:
  static constexpr Rect kEverywhere{-1e9F, -1e9F, 1e9F, 1e9F};
  void add(Call call) {
    call.clip = clips_.empty() ? kEverywhere : clips_.back();
    call.layer = layer_;
    calls_.push_back(std::move(call));
  }

  std::vector<Call> calls_;
  std::vector<Rect> clips_;
  int layer_ = 0;
};

}  // namespace lockstep::viewer
