#include "viewer/window/page.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

constexpr float kNormal = 13;  // the size of normal text at a scale of 1 (load_fonts)

}  // namespace

Page::Page(const Theme& theme, const Fonts& fonts) : theme_(theme), fonts_(fonts) {
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.WorkPos);
  ImGui::SetNextWindowSize(viewport.WorkSize);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, to_vec4(theme.background));
  ImGui::Begin("##page", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoDocking |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  area_ = {viewport.WorkPos.x, viewport.WorkPos.y, viewport.WorkPos.x + viewport.WorkSize.x,
           viewport.WorkPos.y + viewport.WorkSize.y};
}

Page::~Page() {
  ImGui::End();
}

float Page::px(float pixels) const {
  return std::round(pixels * fonts_.normal_size / kNormal);
}

Rect Page::column(float widest) const {
  const float width = std::max(std::min(px(widest), area_.width() - 2 * px(24)), 1.0F);
  const float left = std::floor(area_.left + (area_.width() - width) / 2);
  return {left, area_.top, left + width, area_.bottom};
}

float Page::text(Point at, std::string_view text, Color color, Font font, float width) const {
  ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), fonts_);
  const std::string shown = fitted(canvas, text, width, font);
  canvas.text(at, shown, color, font);
  return canvas.text_width(shown, font);
}

void Page::text_to_the_left_of(Point at, std::string_view text, Color color, Font font) const {
  ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), fonts_);
  canvas.text({at.x - canvas.text_width(text, font), at.y}, text, color, font);
}

float Page::title(Point at, std::string_view text, float size, float width) const {
  // Cut as if it were bold text of the usual size, which is as wide in proportion.
  const float height = px(size);
  std::string shown;
  {
    const ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), fonts_);
    shown = fitted(canvas, text, width * fonts_.normal_size / height, Font::bold);
  }
  ImGui::GetWindowDrawList()->AddText(fonts_.bold, height, {at.x, at.y}, to_imgui(theme_.text), shown.data(),
                                      shown.data() + shown.size());
  return height;
}

void Page::sign(Point at, float height) const {
  using analyzer::Cause;
  // When each rank arrives, of all the time; then all wait for the last one, and move data together.
  constexpr std::array kArrival{0.40F, 0.52F, 0.72F, 0.30F};
  constexpr float kLast = 0.72F;
  const float width = std::round(height * 1.5F);
  const float pitch = height / kArrival.size();
  const float bar = std::max(2.0F, std::round(pitch * 0.62F));
  ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), fonts_);
  for (std::size_t rank = 0; rank < kArrival.size(); ++rank) {
    const float top = std::round(at.y + pitch * static_cast<float>(rank) + (pitch - bar) / 2);
    const auto box = [&](float from, float to) {
      return Rect{std::round(at.x + from * width), top, std::round(at.x + to * width), top + bar};
    };
    const Color waiting = cause_color(theme_, Cause::barrier_wait);
    canvas.box(box(0, kArrival[rank]), cause_color(theme_, Cause::compute));
    if (kArrival[rank] < kLast) {
      canvas.box(box(kArrival[rank], kLast), with_alpha(waiting, 0.38));
      canvas.hatch(box(kArrival[rank], kLast), waiting);
    }
    canvas.box(box(kLast, 1), cause_color(theme_, Cause::transfer));
  }
}

bool Page::button(const char* label, const char* key, bool first) const {
  if (!first) ImGui::SameLine(0, px(8));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {px(14), px(7)});
  const std::string shown =
      *key == '\0' ? std::string(label) : std::string(label) + "   " + key + "###" + label;
  const bool pressed = ImGui::Button(shown.c_str());
  ImGui::PopStyleVar();
  return pressed;
}

void Page::keys(float left, const std::vector<std::pair<const char*, const char*>>& keys) const {
  const float y = area_.bottom - px(34);
  for (const auto& [key, what] : keys) {
    left += text({left, y}, key, theme_.text, Font::small, area_.right - left) + px(6);
    left += text({left, y}, what, theme_.dim_text, Font::small, area_.right - left) + px(20);
  }
}

}  // namespace lockstep::viewer
