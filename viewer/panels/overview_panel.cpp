// The report at a glance: its verdict, every rank's time by cause, the operations that cost most, findings
// and warnings.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"
#include "base/time_math.h"
#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/timeline/code_spans.h"
#include "viewer/widgets/column_texts.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

using analyzer::format_duration;

void wrapped(const std::string& text, std::optional<Color> color = std::nullopt) {
  ImGui::PushTextWrapPos(0);
  if (color) {
    ImGui::TextColored(to_vec4(*color), "%s", text.c_str());
  } else {
    ImGui::TextUnformatted(text.c_str(), text.c_str() + text.size());
  }
  ImGui::PopTextWrapPos();
}

std::string line_of(std::string_view text) {
  return analyzer::fit(quote_code(analyzer::printable(text.substr(0, 2000))), 400);
}

// In place of a rank's bar: why there is none, or where the rank of a hung job stands.
void draw_absence(const Scene& scene, const analyzer::RankReport& rank, const Theme& theme,
                  const Fonts& fonts) {
  const auto index = scene.index_of(rank.rank);
  const RankStanding standing = index ? scene.standing(*index) : RankStanding{};
  if (standing.brief.empty()) {
    ImGui::TextColored(to_vec4(theme.dim_text), rank.damaged          ? "the trace is damaged"
                                                : scene.order_alone() ? "no times"
                                                                      : "no device activity");
    return;
  }
  const Color color = standing.culprit ? theme.warning : theme.dim_text;
  const std::string line = line_of(standing.culprit ? standing.brief : standing.text);
  const float room = ImGui::GetContentRegionAvail().x;
  const std::string shown = fitted(ImGuiCanvas(*ImGui::GetWindowDrawList(), fonts), line, room, Font::small);
  ImGui::TextColored(to_vec4(color), "%s", shown.c_str());
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", line_of(standing.text).c_str());
}

void draw_ranks_table(const Scene& scene, const Theme& theme, const Fonts& fonts) {
  const std::vector<analyzer::RankReport>& ranks = scene.counted_ranks();
  std::int64_t longest = 1;
  for (const analyzer::RankReport& rank : ranks) longest = std::max(longest, rank.measures.window_ns);
  // Without times: where each rank stands, and nothing beside it.
  const bool times = !scene.order_alone();
  const char* const title = times ? "time by cause" : "state";
  const bool scheduled = scene.facts().scheduled;
  if (!ImGui::BeginTable("ranks", !times ? 2 : scheduled ? 6 : 5, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("rank");
  ImGui::TableSetupColumn(title, ImGuiTableColumnFlags_WidthStretch);
  if (times)
    for (const char* const name : {"exposed", "waits", "waited for"}) ImGui::TableSetupColumn(name);
  if (times && scheduled) ImGui::TableSetupColumn("by schedule");
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  right_aligned("rank", theme.dim_text);
  ImGui::TableNextColumn();
  ImGui::TextColored(to_vec4(theme.dim_text), "%s", title);
  if (times) {
    ImGui::TableNextColumn();
    column_title("exposed", kExposedInWords, theme);
    ImGui::TableNextColumn();
    column_title("waits", kWaitsInWords, theme);
    ImGui::TableNextColumn();
    column_title("waited for",
                 "All time that other ranks waited for this one, hidden behind compute too.\n"
                 "Coloured where a finding accuses the rank.",
                 theme);
    if (scheduled) {
      ImGui::TableNextColumn();
      column_title("by schedule",
                   "The part of it that the pipeline's schedule makes: that is nobody's lateness.", theme);
    }
  }
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(ranks.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const analyzer::RankReport& rank = ranks[static_cast<std::size_t>(i)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      right_aligned(fmt::format("{}", rank.rank));
      ImGui::TableNextColumn();
      const analyzer::Measures& m = rank.measures;
      if (m.known) {
        draw_bar(shares_of(m.partition, longest, theme), fonts.small_size * 0.85F, fonts, theme);
      } else {
        draw_absence(scene, rank, theme, fonts);
      }
      if (!times) continue;
      const auto figure = [&](bool known, std::int64_t ns) {
        ImGui::TableNextColumn();
        known ? right_aligned(format_duration(ns)) : right_aligned(analyzer::kAbsent, theme.dim_text);
      };
      figure(m.known, m.exposed_communication_ns);
      figure(m.known && m.waits_known, analyzer::wait_of(m));
      ImGui::TableNextColumn();
      const std::int64_t by_schedule = analyzer::scheduled_of(scene.report(), rank.rank);
      const std::int64_t waited_for =
          saturating_add(analyzer::lateness_of(scene.report(), rank.rank), by_schedule);
      const bool known = waited_for > 0 || (m.known && m.waits_known);
      const auto index = scene.index_of(rank.rank);
      right_aligned(known ? format_duration(waited_for) : analyzer::kAbsent,
                    index && scene.facts().ranks[*index].is_marked ? theme.warning
                    : waited_for > 0                               ? theme.text
                                                                   : theme.dim_text);
      if (scheduled) figure(known, by_schedule);
    }
  }
  ImGui::EndTable();
}

// The operations in which most was lost, the worst first.
Command draw_worst(const Scene& scene, const Theme& theme) {
  Command command;
  constexpr std::size_t kMost = 8;
  const auto costliest = scene.costliest().first(std::min(kMost, scene.costliest().size()));
  if (!ImGui::BeginTable("worst", 4, ImGuiTableFlags_SizingFixedFit)) return command;
  ImGui::TableSetupColumn("id");
  ImGui::TableSetupColumn("operation", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("last");
  ImGui::TableSetupColumn("lost");
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  right_aligned("#", theme.dim_text);
  ImGui::TableNextColumn();
  ImGui::TextColored(to_vec4(theme.dim_text), "operation");
  for (const char* title : {"last", "waited by all"}) {
    ImGui::TableNextColumn();
    right_aligned(title, theme.dim_text);
  }
  for (std::size_t i = 0; i < costliest.size(); ++i) {
    const CollectiveHead& collective = scene.collectives()[costliest[i]];
    const auto parts = scene.parts(costliest[i]);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::Selectable("##row", false, ImGuiSelectableFlags_SpanAllColumns) && !parts.empty()) {
      const analyzer::CollectiveRank& part = parts.front();
      if (const auto rank = scene.index_of(part.rank)) {
        command.show = scene.find_activity(*rank, part.activity);
      }
    }
    ImGui::PopID();
    ImGui::SameLine(0, 0);
    right_aligned(fmt::format("{}", collective.id));
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(trace::to_string(collective.operation));
    ImGui::TableNextColumn();
    right_aligned(collective.has_last_arriver ? fmt::format("rank {}", collective.last_arriver)
                                              : analyzer::kAbsent);
    ImGui::TableNextColumn();
    right_aligned(format_duration(collective.wait_ns));
  }
  ImGui::EndTable();
  return command;
}

Command draw(const PanelContext& context) {
  const Scene& scene = context.pane.scene();
  const Theme& theme = context.theme;
  const Fonts& fonts = context.fonts;
  const std::string& verdict = scene.contents().verdict;
  for (std::size_t from = 0; from < verdict.size();) {
    const std::size_t end = std::min(verdict.find('\n', from), verdict.size());
    wrapped(quote_code(verdict.substr(from, end - from)));
    ImGui::Spacing();
    from = end + 1;
  }
  ImGui::PushFont(nullptr, fonts.small_size);
  heading("RANKS", fonts, theme);
  draw_ranks_table(scene, theme, fonts);
  Command command;
  if (!scene.costliest().empty()) {
    heading("COSTLIEST COLLECTIVES", fonts, theme);
    command = draw_worst(scene, theme);
  }
  if (!scene.report().findings.empty()) {
    heading("FINDINGS", fonts, theme);
    for (const analyzer::Finding& finding : scene.report().findings) {
      wrapped(line_of(finding.title));
      if (!finding.remedy.empty()) wrapped(line_of(finding.remedy), theme.dim_text);
    }
  }
  if (!scene.report().warnings.empty()) {
    heading("WARNINGS", fonts, theme);
    for (const analyzer::Warning& warning : scene.report().warnings)
      wrapped(line_of(warning.message), theme.warning);
  }
  ImGui::PopFont();
  return command;
}

}  // namespace

const Panel panels::overview{
    .title = "Overview",
    .place = PanelPlace::above,
    .draw = draw,
};

}  // namespace lockstep::viewer
