#include "viewer/panels/search_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/panels/panel_states.h"
#include "viewer/timeline/draw.h"
#include "viewer/timeline/standings.h"
#include "viewer/views/first_look.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

void SearchPanel::set_text(const std::string& text) {
  const std::size_t size = std::min(text.size(), text_.size() - 1);
  std::memcpy(text_.data(), text.data(), size);
  text_[size] = '\0';
  search_.ask(text_.data());
  current_.reset();
}

void SearchPanel::restore_from(const Session& session) {
  if (!session.search.empty()) set_text(session.search);
}

Command SearchPanel::show(std::size_t hit) {
  current_ = hit;
  scroll_ = true;
  return {.show = search_.hits()[hit].item};
}

Command SearchPanel::step(int by) {
  const std::size_t count = search_.hits().size();
  if (count == 0) return {};
  if (!current_) return show(by > 0 ? 0 : count - 1);
  return show((*current_ + (by > 0 ? 1 : count - 1)) % count);
}

// As the gutter names it; what is cut, beside the pointer.
void SearchPanel::draw_lane(const Item& item) const {
  constexpr std::size_t kLongest = 14;  // letters: the name is what was searched for
  const std::string& label = scene_.timeline().ranks[item.rank].lanes[item.lane].label;
  const std::string whole = analyzer::fit(analyzer::printable(label.substr(0, 400)), 100);
  const std::string shown = analyzer::fit(whole, kLongest);
  ImGui::TextUnformatted(shown.c_str());
  if (shown != whole && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", whole.c_str());
}

Command SearchPanel::draw(const Theme& theme, const Fonts& fonts) {
  Command command;
  ImGui::PushFont(nullptr, fonts.small_size);
  if (focus_) ImGui::SetKeyboardFocusHere();
  focus_ = false;
  ImGui::SetNextItemWidth(-1);
  // Enter keeps the keyboard, so that it steps again.
  const bool entered =
      ImGui::InputTextWithHint("##search", "gemm  /nccl.*Reduce/  rank=3 class=compute longer=1ms step=12",
                               text_.data(), text_.size(), ImGuiInputTextFlags_EnterReturnsTrue);
  if (entered) ImGui::SetKeyboardFocusHere(-1);
  if (search_.text() != text_.data()) {
    search_.ask(text_.data());
    current_.reset();
  }
  if (entered) command = step(ImGui::GetIO().KeyShift ? -1 : 1);
  const std::vector<SearchHit>& hits = search_.hits();
  if (!search_.error().empty()) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(to_vec4(theme.warning), "%s", search_.error().c_str());
    ImGui::PopTextWrapPos();
  } else if (search_.busy()) {
    ImGui::TextColored(to_vec4(theme.dim_text), "searching…");
  } else if (!search_.text().empty()) {
    const std::string place = current_ ? fmt::format("{} of ", *current_ + 1) : std::string();
    ImGui::TextColored(to_vec4(theme.dim_text), "%s%s%s", place.c_str(),
                       format_plural(static_cast<std::int64_t>(hits.size()), "hit").c_str(),
                       search_.cut() ? " (and more)" : "");
    ImGui::SameLine();
    if (ImGui::SmallButton("previous")) command = step(-1);
    ImGui::SameLine();
    if (ImGui::SmallButton("next")) command = step(1);
    if (!search_.why_none().empty()) {
      ImGui::PushTextWrapPos(0);
      ImGui::TextColored(to_vec4(theme.warning), "%s", analyzer::printable(search_.why_none()).c_str());
      ImGui::PopTextWrapPos();
    }
  } else {
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(
        to_vec4(theme.dim_text), "%s",
        scene_.order_alone()
            ? kWhereOrderStands
            : "Words in names, a /pattern/, and attributes: rank, step, class, longer, shorter. Enter "
              "goes to the next hit, Shift+Enter to the one before.");
    ImGui::PopTextWrapPos();
  }
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg;
  if (!hits.empty() && ImGui::BeginTable("hits", 5, kFlags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("rank");
    ImGui::TableSetupColumn("lane");
    ImGui::TableSetupColumn("at");
    ImGui::TableSetupColumn("took");
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableHeadersRow();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(hits.size()));
    if (scroll_ && current_) clipper.IncludeItemByIndex(static_cast<int>(*current_));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const SearchHit& hit = hits[static_cast<std::size_t>(i)];
        const bool is_current = current_ == static_cast<std::size_t>(i);
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::PushID(i);
        if (ImGui::Selectable("##hit", is_current, ImGuiSelectableFlags_SpanAllColumns))
          command = show(static_cast<std::size_t>(i));
        ImGui::PopID();
        if (is_current && scroll_) {
          ImGui::SetScrollHereY();
          scroll_ = false;
        }
        ImGui::SameLine(0, 0);
        right_aligned(fmt::format("{}", scene_.timeline().ranks[hit.item.rank].rank));
        ImGui::TableNextColumn();
        draw_lane(hit.item);
        ImGui::TableNextColumn();
        right_aligned(analyzer::format_duration(hit.begin - scene_.timeline().origin));
        ImGui::TableNextColumn();
        right_aligned(analyzer::format_duration(static_cast<std::int64_t>(distance(hit.begin, hit.end))));
        ImGui::TableNextColumn();
        const std::string label = item_label(scene_, hit.item).substr(0, 400);
        const std::string name = analyzer::fit(analyzer::printable(label), 100);
        const bool cut = ImGui::CalcTextSize(name.c_str()).x > ImGui::GetContentRegionAvail().x;
        ImGui::TextUnformatted(name.c_str());
        if (cut && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", name.c_str());
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopFont();
  return command;
}

const Panel panels::search{
    .title = kSearchPanel,
    .place = PanelPlace::above,
    .runs = PanelRuns::first,
    .key = {"/", "search"},
    .make_state = new_state<SearchPanel>,
    .draw =
        [](const PanelContext& context) {
          return context.states.get<SearchPanel>(panels::search).draw(context.theme, context.fonts);
        },
};

}  // namespace lockstep::viewer
