#include "viewer/panels/panel_parts.h"

#include <algorithm>
#include <cmath>

#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

void right_aligned(const std::string& text, std::optional<Color> color) {
  const float width = ImGui::CalcTextSize(text.c_str()).x;
  const float room = ImGui::GetContentRegionAvail().x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, room - width));
  if (color) {
    ImGui::TextColored(to_vec4(*color), "%s", text.c_str());
  } else {
    ImGui::TextUnformatted(text.c_str());
  }
}

void column_title(const char* title, const char* what, const Theme& theme) {
  right_aligned(title, theme.dim_text);
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", what);
}

void heading(const char* text, const Fonts& fonts, const Theme& theme) {
  ImGui::Dummy({0, ImGui::GetStyle().ItemSpacing.y});
  ImGui::PushFont(fonts.bold, fonts.small_size);
  ImGui::TextColored(to_vec4(theme.dim_text), "%s", text);
  ImGui::PopFont();
}

void draw_facts(const char* id, const std::vector<Fact>& facts, const Theme& theme) {
  if (!ImGui::BeginTable(id, 2, ImGuiTableFlags_SizingStretchProp)) return;
  ImGui::TableSetupColumn("label", ImGuiTableColumnFlags_WidthFixed);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  for (const Fact& fact : facts) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextColored(to_vec4(theme.dim_text), "%s", fact.label.c_str());
    ImGui::TableNextColumn();
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(fact.value.c_str());
    if (!fact.note.empty()) ImGui::TextColored(to_vec4(theme.dim_text), "%s", fact.note.c_str());
    ImGui::PopTextWrapPos();
  }
  ImGui::EndTable();
}

std::vector<Share> shares_of(const analyzer::Partition& partition, std::int64_t scale, const Theme& theme) {
  std::vector<Share> shares;
  for (std::size_t cause = 0; cause < analyzer::kCauseCount; ++cause) {
    const auto kind = static_cast<analyzer::Cause>(cause);
    shares.push_back(
        {static_cast<double>(partition.ns[cause]) / static_cast<double>(std::max<std::int64_t>(scale, 1)),
         cause_color(theme, kind), is_waiting(kind)});
  }
  return shares;
}

void draw_bar(const std::vector<Share>& shares, float height, const Fonts& fonts, const Theme& theme) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(1.0F, ImGui::GetContentRegionAvail().x);
  const float line = ImGui::GetTextLineHeight();
  const float top = std::floor(at.y + (line - height) / 2);
  {
    ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), fonts);
    canvas.box({at.x, top, at.x + width, top + height}, theme.background);
    float left = at.x;
    for (const Share& share : shares) {
      const float right = std::min(at.x + width, left + static_cast<float>(share.share) * width);
      if (right > left) {
        canvas.box({left, top, right, top + height},
                   share.hatched ? with_alpha(share.color, 0.38) : share.color);
        if (share.hatched) canvas.hatch({left, top, right, top + height}, share.color);
      }
      left = right;
    }
  }
  ImGui::Dummy({width, line});
}

}  // namespace lockstep::viewer
