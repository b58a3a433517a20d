#include "viewer/widgets/imgui_canvas.h"

#include <algorithm>
#include <cmath>

#include "analyzer/report/unicode.h"

namespace lockstep::viewer {

ImGuiCanvas::ImGuiCanvas(ImDrawList& list, const Fonts& fonts) : list_(list), fonts_(fonts) {
  has_stripes_ = fonts.stripes != -1 && ImGui::GetIO().Fonts->GetCustomRect(fonts.stripes, &stripes_);
  splitter_.Split(&list_, kLayers * kKinds);
  select(kBoxes);
}

ImGuiCanvas::~ImGuiCanvas() {
  splitter_.Merge(&list_);
}

void ImGuiCanvas::select(Kind kind) {
  splitter_.SetCurrentChannel(&list_, layer_ * kKinds + kind);
}

void ImGuiCanvas::next_layer() {
  layer_ = std::min(layer_ + 1, kLayers - 1);
}

void ImGuiCanvas::box(const Rect& rect, Color color) {
  select(kBoxes);
  if (rect.width() < 1 || rect.height() < 1) {
    list_.AddRectFilled({rect.left, rect.top}, {rect.right, rect.bottom}, to_imgui(color));
    return;
  }
  // Without the smoothing of edges between pixels: sharp, half the vertices, a fifth of the indices.
  if (color.a == 0) return;
  list_.PrimReserve(6, 4);
  list_.PrimRect({rect.left, rect.top}, {rect.right, rect.bottom}, to_imgui(color));
}

void ImGuiCanvas::hatch(const Rect& rect, Color color) {
  if (!has_stripes_) return;
  select(kHatches);
  // Only what can be seen, one tile of the pattern after the other: all from the atlas, so in one draw
  // command with the rest.
  const ImVec2 seen_from = list_.GetClipRectMin();
  const ImVec2 seen_to = list_.GetClipRectMax();
  const float right = std::min(rect.right, seen_to.x);
  const auto tile = static_cast<float>(fonts_.stripe_width);
  // Higher than the pattern: one below the other.
  const auto pattern = static_cast<float>(fonts_.stripe_height);
  if (rect.height() > pattern) {
    hatch({rect.left, rect.top, rect.right, rect.top + pattern}, color);
    hatch({rect.left, rect.top + pattern, rect.right, rect.bottom}, color);
    return;
  }
  const float height = rect.height();
  const auto& texture = *ImGui::GetIO().Fonts->TexData;
  const ImVec2 texel{1.0F / static_cast<float>(texture.Width), 1.0F / static_cast<float>(texture.Height)};
  for (float left = std::max(rect.left, seen_from.x); left < right;) {
    const float into = left - std::floor(left / tile) * tile;
    const float end = std::min(right, left + tile - into);
    const ImVec2 from{(static_cast<float>(stripes_.x) + into) * texel.x,
                      static_cast<float>(stripes_.y) * texel.y};
    const ImVec2 to{from.x + (end - left) * texel.x, from.y + height * texel.y};
    list_.PrimReserve(6, 4);
    list_.PrimRectUV({left, rect.top}, {end, rect.top + height}, from, to, to_imgui(color));
    left = end;
  }
}

void ImGuiCanvas::frame(const Rect& rect, Color color, float thickness) {
  select(kLines);
  list_.AddRect({rect.left, rect.top}, {rect.right, rect.bottom}, to_imgui(color), 0, thickness);
}

void ImGuiCanvas::line(Point from, Point to, Color color, float thickness) {
  select(kLines);
  list_.AddLine({from.x, from.y}, {to.x, to.y}, to_imgui(color), thickness);
}

void ImGuiCanvas::triangle(Point a, Point b, Point c, Color color) {
  select(kLines);
  list_.AddTriangleFilled({a.x, a.y}, {b.x, b.y}, {c.x, c.y}, to_imgui(color));
}

void ImGuiCanvas::text(Point at, std::string_view text, Color color, Font font) {
  if (text.empty()) return;
  select(kTexts);
  if (fonts_.ascii) {
    const std::string plain = analyzer::to_ascii(text);
    list_.AddText(font_of(font), size_of(font), {at.x, at.y}, to_imgui(color), plain.data(),
                  plain.data() + plain.size());
    return;
  }
  list_.AddText(font_of(font), size_of(font), {at.x, at.y}, to_imgui(color), text.data(),
                text.data() + text.size());
}

float ImGuiCanvas::text_width(std::string_view text, Font font) const {
  if (text.empty()) return 0;
  constexpr float kNoLimit = 1e9F;
  return std::ceil(
      font_of(font)->CalcTextSizeA(size_of(font), kNoLimit, 0, text.data(), text.data() + text.size()).x);
}

float ImGuiCanvas::text_height(Font font) const {
  return size_of(font);
}

void ImGuiCanvas::clip(const Rect& rect) {
  list_.PushClipRect({rect.left, rect.top}, {rect.right, rect.bottom}, true);
}

void ImGuiCanvas::unclip() {
  list_.PopClipRect();
}

}  // namespace lockstep::viewer
