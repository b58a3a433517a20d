#include "viewer/widgets/tooltip.h"

#include <imgui.h>

#include <optional>

#include "viewer/timeline/describe.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

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
