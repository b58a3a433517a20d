#include "viewer/window/panel_parts.h"

#include <algorithm>
#include <cmath>

#include "viewer/window/imgui_canvas.h"

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

namespace {

std::optional<Description> description_of(const Scene& scene, const Hit& hit, Nanoseconds time) {
  if (hit.rank && scene.order_alone()) return describe_standing(scene, *hit.rank);
  if (!hit.rank || !hit.row) return std::nullopt;
  if (scene.timeline().ranks[*hit.rank].lanes[hit.row->lane].role == LaneRole::counter)
    return describe_counter(scene, *hit.rank, *hit.row, time);
  if (hit.item) return summarize(scene, *hit.item);
  if (hit.box) return describe_fold(scene, *hit.rank, *hit.row, *hit.box);
  return std::nullopt;
}

}  // namespace

void draw_tooltip(const Scene& scene, const Hit& hit, Nanoseconds time, const Theme& theme,
                  const Fonts& fonts) {
  const std::optional<Description> found = description_of(scene, hit, time);
  if (!found) return;
  const Description& description = *found;
  if (!ImGui::BeginTooltip()) return;
  ImGui::PushFont(fonts.bold, 0);
  ImGui::TextUnformatted(description.title.c_str());
  ImGui::PopFont();
  ImGui::PushFont(nullptr, fonts.small_size);
  constexpr float kLongest = 40;  // of a line, in heights of the font
  // As wide as its text: a tooltip has no width of its own to wrap at.
  if (ImGui::BeginTable("tooltip", 2, ImGuiTableFlags_SizingFixedFit)) {
    for (const Fact& fact : description.facts) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::TextColored(to_vec4(theme.dim_text), "%s", fact.label.c_str());
      ImGui::TableNextColumn();
      // Whole sentences are cut into lines; figures are never as long.
      ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + fonts.small_size * kLongest);
      ImGui::TextUnformatted(fact.value.c_str());
      ImGui::PopTextWrapPos();
    }
    ImGui::EndTable();
  }
  ImGui::PopFont();
  ImGui::EndTooltip();
}

}  // namespace lockstep::viewer
