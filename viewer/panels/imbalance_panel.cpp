// The real time of ranks above the ideal one.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/quantity.h"
#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/panels/panel_states.h"
#include "viewer/panels/steps_panel.h"
#include "viewer/views/imbalance.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

constexpr std::size_t kMaxRanks = 2000;

void draw_row(const ImbalanceBar& bar, std::int64_t scale, std::optional<float> mean, const Theme& theme,
              const Fonts& fonts) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  right_aligned(bar.label);
  ImGui::TableNextColumn();
  right_aligned(analyzer::format_duration(bar.total_ns));
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float line = ImGui::GetTextLineHeight();
  draw_bar(shares_of(bar.parts, scale, theme), fonts.small_size * 0.85F, fonts, theme);
  if (mean) {
    ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), fonts);
    const float x = std::floor(at.x + width * *mean) + 0.5F;
    canvas.line({x, at.y - 1}, {x, at.y + line + 1}, theme.text, 1);
  }
}

// Of the step that was chosen in the heat map, else of steady training or of the whole run.
Command draw(const PanelContext& context) {
  const Scene& scene = context.pane.scene();
  const Theme& theme = context.theme;
  const Fonts& fonts = context.fonts;
  const std::optional<std::int64_t> step = context.states.get<StepsPanel>(panels::steps).selected_step();
  ImGui::PushFont(nullptr, fonts.small_size);
  const std::optional<Imbalance> found = imbalance_of(scene, step);
  if (!found) {
    ImGui::TextColored(to_vec4(theme.dim_text), "No rank's times are known here.");
    ImGui::PopFont();
    return {};
  }
  const std::string of = step ? fmt::format("Step {}", *step)
                              : std::string(scene.report().steady ? "Steady training" : "The whole run");
  ImGui::PushTextWrapPos(0);
  ImGui::TextColored(
      to_vec4(theme.dim_text), "%s",
      fmt::format("{}. {} Click a step in the heat map for another one.", of, sentence(*found)).c_str());
  ImGui::PopTextWrapPos();
  const std::int64_t scale = std::max<std::int64_t>({found->real_ns, found->bars[0].total_ns, 1});
  if (ImGui::BeginTable("imbalance", 3, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY)) {
    ImGui::TableSetupColumn("label");
    ImGui::TableSetupColumn("time");
    ImGui::TableSetupColumn("bar", ImGuiTableColumnFlags_WidthStretch);
    for (const ImbalanceBar& bar : found->bars) draw_row(bar, scale, std::nullopt, theme, fonts);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::Dummy({0, 4});
    const float mean = static_cast<float>(found->mean_compute_ns) / static_cast<float>(scale);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(std::min(found->ranks.size(), kMaxRanks)));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(found->ranks[static_cast<std::size_t>(i)], scale, mean, theme, fonts);
    ImGui::EndTable();
  }
  ImGui::PopFont();
  return {};
}

}  // namespace

const Panel panels::imbalance{
    .title = "Imbalance",
    .place = PanelPlace::bottom,
    .draw = draw,
};

}  // namespace lockstep::viewer
