// What is selected, or else what is under the pointer; of a collective also every rank's part in it.
#include "viewer/panels/keys.h"
#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

void draw_keys(const Theme& theme) {
  ImGui::TextColored(to_vec4(theme.dim_text), "Nothing is selected.");
  for (const KeyGroup& group : key_groups()) {
    ImGui::Spacing();
    std::vector<Fact> facts;
    for (const KeyHelp& key : group.keys) facts.push_back({key.keys, key.what});
    draw_facts(group.title, facts, theme);
  }
}

Command draw_participants(const Scene& scene, std::uint32_t collective, const Theme& theme,
                          const Fonts& fonts) {
  Command command;
  const std::vector<CollectiveRow> rows = collective_rows(scene, collective);
  if (!ImGui::BeginTable("participants", 5, ImGuiTableFlags_SizingFixedFit)) return command;
  ImGui::TableSetupColumn("rank");
  ImGui::TableSetupColumn("arrived");
  ImGui::TableSetupColumn("waited");
  const char* const transfer = transfer_title(scene.collectives()[collective].waits_known());
  ImGui::TableSetupColumn(transfer);
  ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableNextRow();
  for (const char* title : {"rank", "arrived", "waited", transfer}) {
    ImGui::TableNextColumn();
    right_aligned(title, theme.dim_text);
  }
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const CollectiveRow& row = rows[static_cast<std::size_t>(i)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(i);
      if (ImGui::Selectable("##row", false, ImGuiSelectableFlags_SpanAllColumns) &&
          row.rank_index != analyzer::kNone) {
        command.show = scene.find_activity(row.rank_index, row.activity);
      }
      ImGui::PopID();
      ImGui::SameLine(0, 0);
      const auto color = row.last ? std::optional<Color>(theme.warning) : std::nullopt;
      right_aligned(row.rank, color);
      ImGui::TableNextColumn();
      right_aligned(row.arrival, color);
      ImGui::TableNextColumn();
      right_aligned(row.wait, color);
      ImGui::TableNextColumn();
      right_aligned(row.transfer, color);
      ImGui::TableNextColumn();
      draw_bar({{row.wait_share, cause_color(theme, analyzer::Cause::barrier_wait), true},
                {row.transfer_share, cause_color(theme, analyzer::Cause::transfer), false}},
               fonts.small_size * 0.8F, fonts, theme);
    }
  }
  ImGui::EndTable();
  return command;
}

// Who came when is what the operation is looked at for: of few ranks it stands first, and the last of them on
// the screen. Of many the last arriver is named in the first of the facts.
Command draw_collective(const Scene& scene, std::uint32_t collective, const Theme& theme,
                        const Fonts& fonts) {
  constexpr std::size_t kFew = 16;
  const Description description = describe_collective(scene, collective);
  const bool few = scene.parts(collective).size() <= kFew;
  heading(description.title.c_str(), fonts, theme);
  Command command;
  if (few) command = draw_participants(scene, collective, theme, fonts);
  if (few) ImGui::Spacing();
  draw_facts("collective", description.facts, theme);
  if (!few) ImGui::Spacing();
  if (!few) command = draw_participants(scene, collective, theme, fonts);
  return command;
}

Command draw(const PanelContext& context) {
  const Scene& scene = context.pane.scene();
  const TimelineState& state = context.pane.state();
  const Theme& theme = context.theme;
  const Fonts& fonts = context.fonts;
  const std::optional<Item> item = state.selected ? state.selected : state.hovered;
  if (!item) {
    ImGui::PushFont(nullptr, fonts.small_size);
    draw_keys(theme);
    ImGui::PopFont();
    return {};
  }
  const Description description = describe(scene, *item);
  ImGui::PushFont(fonts.bold, 0);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(description.title.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::PushFont(nullptr, fonts.small_size);
  Command command;
  const auto collective = scene.collective_of(*item);
  if (collective) {
    command = draw_collective(scene, *collective, theme, fonts);
    heading("on this rank", fonts, theme);
  }
  draw_facts("facts", description.facts, theme);
  ImGui::PopFont();
  return command;
}

}  // namespace

const Panel panels::details{
    .title = "Details",
    .place = PanelPlace::below,
    .runs = PanelRuns::pointed,
    .draw = draw,
};

}  // namespace lockstep::viewer
