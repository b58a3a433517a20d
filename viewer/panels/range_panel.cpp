#include "viewer/panels/range_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"
#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/panels/panel_states.h"
#include "viewer/views/first_look.h"
#include "viewer/views/range_figures.h"
#include "viewer/widgets/column_texts.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

using analyzer::format_duration;

// A rank's number; a click anywhere in its row goes there.
void draw_rank_cell(const Scene& scene, int rank, Command& command) {
  ImGui::PushID(rank);
  if (ImGui::Selectable("##row", false, ImGuiSelectableFlags_SpanAllColumns))
    command.rank = static_cast<std::uint32_t>(rank);
  ImGui::PopID();
  ImGui::SameLine(0, 0);
  right_aligned(fmt::format("{}", scene.timeline().ranks[static_cast<std::size_t>(rank)].rank));
}

void draw_causes(const RangeStatistics& statistics, bool exact, const Theme& theme, const Fonts& fonts) {
  analyzer::Partition sums;
  for (std::size_t rank = 0; rank < statistics.done(); ++rank) {
    if (!statistics.of(rank).known) continue;
    for (std::size_t cause = 0; cause < analyzer::kCauseCount; ++cause)
      sums.ns[cause] = saturating_add(sums.ns[cause], statistics.of(rank).partition.ns[cause]);
  }
  std::int64_t total = 0;
  for (const std::int64_t ns : sums.ns) total = saturating_add(total, ns);
  total = std::max<std::int64_t>(total, 1);
  if (!ImGui::BeginTable("causes", 4, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("cause");
  ImGui::TableSetupColumn("share");
  ImGui::TableSetupColumn("time");
  ImGui::TableSetupColumn("bar", ImGuiTableColumnFlags_WidthStretch);
  for (std::size_t i = 0; i < analyzer::kCauseCount; ++i) {
    if (sums.ns[i] == 0) continue;
    const auto cause = static_cast<analyzer::Cause>(i);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(analyzer::style_of(cause).label);
    ImGui::TableNextColumn();
    right_aligned(analyzer::format_share(sums.ns[i], total));
    ImGui::TableNextColumn();
    right_aligned(exact ? format_count(sums.ns[i]) : format_duration(sums.ns[i]));
    ImGui::TableNextColumn();
    draw_bar({{static_cast<double>(sums.ns[i]) / static_cast<double>(total), cause_color(theme, cause),
               is_waiting(cause)}},
             fonts.small_size * 0.8F, fonts, theme);
  }
  ImGui::EndTable();
}

Command draw_rank_rows(const Scene& scene, const RangeStatistics& statistics, std::int64_t length,
                       const Theme& theme, const Fonts& fonts) {
  Command command;
  if (!ImGui::BeginTable("ranges", 5, ImGuiTableFlags_SizingFixedFit)) return command;
  ImGui::TableSetupColumn("rank");
  ImGui::TableSetupColumn("by cause", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("compute");
  ImGui::TableSetupColumn("waits");
  ImGui::TableSetupColumn("exposed");
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  right_aligned("rank", theme.dim_text);
  ImGui::TableNextColumn();
  ImGui::TextColored(to_vec4(theme.dim_text), "by cause");
  ImGui::TableNextColumn();
  column_title("compute", kComputeInWords, theme);
  ImGui::TableNextColumn();
  column_title("waits", kWaitsInWords, theme);
  ImGui::TableNextColumn();
  column_title("exposed", kExposedInWords, theme);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(statistics.done()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const analyzer::Measures& m = statistics.of(static_cast<std::size_t>(i));
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      draw_rank_cell(scene, i, command);
      ImGui::TableNextColumn();
      if (m.known) {
        draw_bar(shares_of(m.partition, length, theme), fonts.small_size * 0.8F, fonts, theme);
      } else {
        ImGui::TextColored(to_vec4(theme.dim_text), "not known");
      }
      const auto figure = [&](bool known, std::int64_t ns) {
        ImGui::TableNextColumn();
        m.known&& known ? right_aligned(format_duration(ns))
                        : right_aligned(analyzer::kAbsent, theme.dim_text);
      };
      figure(true, m.compute_ns);
      figure(m.waits_known, analyzer::wait_of(m));
      figure(true, m.exposed_communication_ns);
    }
  }
  ImGui::EndTable();
  return command;
}

// Everything that `analyze --range --json` has of each rank, under its names there.
Command draw_exact_rows(const Scene& scene, const RangeStatistics& statistics, const Theme& theme) {
  Command command;
  const std::span<const RangeFigure> figures = range_figures();
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollX |
                                     ImGuiTableFlags_ScrollY | ImGuiTableFlags_NoSavedSettings;
  if (!ImGui::BeginTable("exact", static_cast<int>(figures.size()) + 1, kFlags)) return command;
  ImGui::TableSetupScrollFreeze(1, 1);
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  right_aligned("rank", theme.dim_text);
  for (const RangeFigure& figure : figures) {
    ImGui::TableNextColumn();
    column_title(figure.name.c_str(), figure.what, theme);
  }
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(statistics.done()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      draw_rank_cell(scene, i, command);
      for (const RangeFigure& figure : figures) {
        ImGui::TableNextColumn();
        const auto ns = figure.of(statistics.of(static_cast<std::size_t>(i)));
        right_aligned(ns ? format_count(*ns) : analyzer::kAbsent);
      }
    }
  }
  ImGui::EndTable();
  return command;
}

// Kept for as long as the window is open.
bool draw_exact_switch(const std::string& flag) {
  bool& exact = *ImGui::GetStateStorage()->GetBoolRef(ImGui::GetID("exact"));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ImGui::GetStyle().FramePadding.x, 0});
  ImGui::Checkbox("nanoseconds", &exact);
  ImGui::PopStyleVar();
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("Exact figures: all that `lockstep analyze %s --json -` tells, under its names.",
                      flag.c_str());
  return exact;
}

Command draw(const PanelContext& context) {
  const Scene& scene = context.pane.scene();
  const TimelineState& state = context.pane.state();
  const Theme& theme = context.theme;
  const Fonts& fonts = context.fonts;
  RangeStatistics& statistics = context.states.get<RangePanel>(panels::range).statistics();
  Command command;
  if (!state.measured) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(
        to_vec4(theme.dim_text), "%s",
        scene.order_alone()
            ? "The run has no times, only the order of operations: there is nothing to measure."
            : "Drag with Shift over the lanes: every rank's time in that range stands here.");
    ImGui::PopTextWrapPos();
    return command;
  }
  const TimeRange range = *state.measured;
  statistics.ask(range);
  const Nanoseconds origin = scene.timeline().origin;
  const auto length = static_cast<std::int64_t>(
      std::min<std::uint64_t>(distance(range.begin, range.end), std::numeric_limits<std::int64_t>::max()));
  ImGui::PushFont(fonts.bold, 0);
  ImGui::TextUnformatted(exact_duration(length).c_str());
  ImGui::PopFont();
  ImGui::PushFont(nullptr, fonts.small_size);
  const std::string flag =
      fmt::format("--range {}:{}", saturating_add(range.begin, -origin), saturating_add(range.end, -origin));
  ImGui::SameLine(0, fonts.small_size * 1.5F);
  const bool exact = draw_exact_switch(flag);
  ImGui::TextColored(to_vec4(theme.dim_text), "%s", flag.c_str());
  ImGui::SameLine();
  if (ImGui::SmallButton("copy")) ImGui::SetClipboardText(flag.c_str());
  ImGui::SameLine();
  if (ImGui::SmallButton("zoom to it")) command.range = range;
  if (statistics.busy())
    ImGui::ProgressBar(static_cast<float>(statistics.done()) /
                       static_cast<float>(std::max<std::size_t>(scene.timeline().ranks.size(), 1)));
  draw_causes(statistics, exact, theme, fonts);
  ImGui::PushTextWrapPos(0);
  ImGui::TextColored(
      to_vec4(theme.dim_text), "%s",
      exact ? "Shares count each instant once. What a column counts stands beside the pointer over its "
              "title."
            : "Shares and bars count each instant once: waiting behind compute is compute there. "
              "The column waits counts it too, exposed does not.");
  ImGui::PopTextWrapPos();
  ImGui::Spacing();
  const Command of_rank =
      exact ? draw_exact_rows(scene, statistics, theme)
            : draw_rank_rows(scene, statistics, std::max<std::int64_t>(length, 1), theme, fonts);
  ImGui::PopFont();
  return of_rank.any() ? of_rank : command;
}

}  // namespace

const Panel panels::range{
    .title = kRangePanel,
    .place = PanelPlace::below,
    .make_state = new_state<RangePanel>,
    .draw = draw,
};

}  // namespace lockstep::viewer
