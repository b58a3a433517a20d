#include "viewer/window/notice_bar.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "analyzer/report/unicode.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

std::optional<Notice> notice_of(const Circumstances& circumstances) {
  if (circumstances.opening_again) {
    const OpeningProgress& progress = *circumstances.opening_again;
    return Notice{fmt::format("Opening it again: {}, {:.0f} %", to_string(progress.stage),
                              std::floor(100 * progress.share()))};
  }
  if (!circumstances.hint.empty()) return Notice{circumstances.hint, false, true};
  if (!circumstances.message.empty()) return Notice{circumstances.message, false, true};
  if (circumstances.cut) {
    return Notice{"The prepared file beside the run was cut by another program: what is shown has gaps.",
                  true, false};
  }
  switch (circumstances.on_disk) {
    case OnDisk::same:
      break;
    case OnDisk::changed:
      return Notice{"The run has changed on disk: what is shown was read before.", true, true};
    case OnDisk::gone:
      return Notice{"The run is gone from the disk: what is shown was read before.", true, true};
  }
  return std::nullopt;
}

NoticeChoice draw_notice(const Notice& notice, const Theme& theme, const Fonts& fonts) {
  NoticeChoice choice;
  const float height = std::round(fonts.normal_size * 2.3F);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {fonts.normal_size, 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, to_vec4(mix(theme.panel, theme.warning, 0.14)));
  const bool open = ImGui::BeginViewportSideBar(
      "##notice", ImGui::GetMainViewport(), ImGuiDir_Up, height,
      ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  if (open) {
    ImGui::PushFont(nullptr, fonts.small_size);
    const ImGuiStyle& style = ImGui::GetStyle();
    const auto width = [&style](const char* label) {
      return ImGui::CalcTextSize(label).x + 2 * style.FramePadding.x;
    };
    float buttons = 0;
    if (notice.can_open_again) buttons += width("Open again   Ctrl R") + style.ItemSpacing.x;
    if (notice.can_hide) buttons += width("Hide");
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - fonts.normal_size;
    const ImVec2 at = ImGui::GetWindowPos();
    {
      ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), fonts);
      const float room = right - buttons - at.x - 2 * fonts.normal_size;
      const std::string whole = analyzer::printable(notice.text);
      const std::string text = fitted(canvas, whole, room, Font::small);
      canvas.text(
          {at.x + fonts.normal_size, std::floor(at.y + (height - canvas.text_height(Font::small)) / 2)}, text,
          theme.warning, Font::small);
      if (text != whole && ImGui::IsMouseHoveringRect(at, {at.x + fonts.normal_size + room, at.y + height}) &&
          ImGui::BeginTooltip()) {
        ImGui::PushTextWrapPos(40 * fonts.normal_size);
        ImGui::TextUnformatted(whole.c_str());
        ImGui::PopTextWrapPos();
        ImGui::EndTooltip();
      }
    }
    if (buttons > 0)
      ImGui::SetCursorScreenPos({right - buttons, std::floor(at.y + (height - ImGui::GetFrameHeight()) / 2)});
    if (notice.can_open_again) choice.open_again = ImGui::Button("Open again   Ctrl R");
    if (notice.can_open_again && notice.can_hide) ImGui::SameLine();
    if (notice.can_hide) choice.hide = ImGui::Button("Hide");
    ImGui::PopFont();
  }
  ImGui::End();
  return choice;
}

}  // namespace lockstep::viewer
