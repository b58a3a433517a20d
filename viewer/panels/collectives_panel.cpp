#include "viewer/panels/collectives_panel.h"

#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/panels/panel_states.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

bool is_right_aligned(CollectiveColumn column) {
  return column != CollectiveColumn::operation && column != CollectiveColumn::group;
}

}  // namespace

Command CollectivesPanel::draw(std::optional<std::uint32_t> lit, const Theme& theme, const Fonts& fonts) {
  Command command;
  ImGui::PushFont(nullptr, fonts.small_size);
  if (table_.unlisted()) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(to_vec4(theme.dim_text), "%s", table_.summary().c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
    return command;
  }
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputTextWithHint("##filter", "filter: all_reduce dp step 3 rank 7", filter_.data(),
                               filter_.size()))
    table_.set_filter(filter_.data());
  const std::vector<std::uint32_t>& rows = table_.rows();
  ImGui::TextColored(to_vec4(theme.dim_text), "%s", table_.summary().c_str());
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY |
                                     ImGuiTableFlags_Hideable | ImGuiTableFlags_Resizable |
                                     ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg |
                                     // Widths that a table had before it was ever seen are none to keep.
                                     ImGuiTableFlags_NoSavedSettings;
  if (ImGui::BeginTable("collectives", static_cast<int>(kCollectiveColumns), kFlags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (std::size_t i = 0; i < kCollectiveColumns; ++i) {
      const auto column = static_cast<CollectiveColumn>(i);
      ImGuiTableColumnFlags flags = ImGuiTableColumnFlags_None;
      if (column == CollectiveColumn::wait)
        flags |= ImGuiTableColumnFlags_DefaultSort | ImGuiTableColumnFlags_PreferSortDescending;
      if (column == CollectiveColumn::operation) flags |= ImGuiTableColumnFlags_WidthStretch;
      if (column == CollectiveColumn::busbw || column == CollectiveColumn::group ||
          column == CollectiveColumn::bytes)
        flags |= ImGuiTableColumnFlags_DefaultHide;
      ImGui::TableSetupColumn(title_of(column), flags);
    }
    ImGui::TableHeadersRow();
    if (ImGuiTableSortSpecs* const specs = ImGui::TableGetSortSpecs();
        specs != nullptr && specs->SpecsDirty && specs->SpecsCount > 0) {
      table_.sort_by(static_cast<CollectiveColumn>(specs->Specs[0].ColumnIndex),
                     specs->Specs[0].SortDirection == ImGuiSortDirection_Descending);
      specs->SpecsDirty = false;
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const std::uint32_t index = rows[static_cast<std::size_t>(i)];
        const CollectiveHead& head = scene_.collectives()[index];
        ImGui::TableNextRow();
        ImGui::PushID(static_cast<int>(index));
        for (std::size_t c = 0; c < kCollectiveColumns; ++c) {
          if (!ImGui::TableSetColumnIndex(static_cast<int>(c)) && c > 0) continue;
          const auto column = static_cast<CollectiveColumn>(c);
          if (c == 0) {
            if (ImGui::Selectable("##row", lit == index, ImGuiSelectableFlags_SpanAllColumns))
              command.collective = index;
            ImGui::SameLine(0, 0);
          }
          const std::string text = cell_of(scene_, head, column);
          if (is_right_aligned(column))
            right_aligned(text);
          else
            ImGui::TextUnformatted(text.c_str());
        }
        ImGui::PopID();
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopFont();
  return command;
}

namespace {

Command draw(const PanelContext& context) {
  const std::optional<std::uint32_t> lit = lit_collective(context.pane.scene(), context.pane.state());
  const Command command =
      context.states.get<CollectivesPanel>(panels::collectives).draw(lit, context.theme, context.fonts);
  if (command.collective) context.show(panels::details);
  return command;
}

}  // namespace

const Panel panels::collectives{
    .title = "Collectives",
    .place = PanelPlace::above,
    .runs = PanelRuns::first,
    .make_state = new_state<CollectivesPanel>,
    .draw = draw,
};

}  // namespace lockstep::viewer
