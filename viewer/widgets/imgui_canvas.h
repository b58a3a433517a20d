// The canvas on a Dear ImGui draw list.
#pragma once

#include <imgui.h>

#include "viewer/timeline/canvas.h"
#include "viewer/widgets/fonts.h"

namespace lockstep::viewer {

// Draws until it is destroyed; then the layers are merged into the draw list.
class ImGuiCanvas final : public Canvas {
 public:
  ImGuiCanvas(ImDrawList& list, const Fonts& fonts);
  ~ImGuiCanvas() override;
  ImGuiCanvas(const ImGuiCanvas&) = delete;
  ImGuiCanvas& operator=(const ImGuiCanvas&) = delete;

  void box(const Rect& rect, Color color) override;
  void hatch(const Rect& rect, Color color) override;
  void frame(const Rect& rect, Color color, float thickness) override;
  void line(Point from, Point to, Color color, float thickness) override;
  void triangle(Point a, Point b, Point c, Color color) override;
  void text(Point at, std::string_view text, Color color, Font font) override;
  float text_width(std::string_view text, Font font) const override;
  float text_height(Font font) const override;
  void clip(const Rect& rect) override;
  void unclip() override;
  void next_layer() override;

 private:
  // What is drawn above what within a layer.
  enum Kind { kBoxes, kHatches, kLines, kTexts, kKinds };
  static constexpr int kLayers = 2;
  void select(Kind kind);
  ImFont* font_of(Font font) const { return font == Font::bold ? fonts_.bold : fonts_.regular; }
  float size_of(Font font) const { return font == Font::small ? fonts_.small_size : fonts_.normal_size; }

  ImDrawList& list_;
  const Fonts& fonts_;
  ImDrawListSplitter splitter_;
  ImFontAtlasRect stripes_;
  bool has_stripes_ = false;
  int layer_ = 0;
};

inline ImU32 to_imgui(Color color) {
  return IM_COL32(color.r, color.g, color.b, color.a);
}
inline ImVec4 to_vec4(Color color) {
  return ImGui::ColorConvertU32ToFloat4(to_imgui(color));
}

}  // namespace lockstep::viewer
