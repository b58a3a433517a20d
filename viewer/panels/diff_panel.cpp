// What changed from run A to run B: by cause, and step by step.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "analyzer/diff/diff_words.h"
#include "analyzer/report/quantity.h"
#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/widgets/imgui_canvas.h"
#include "viewer/widgets/run_choice.h"

namespace lockstep::viewer {

namespace {

using analyzer::format_duration;

// More time is worse.
Color change_color(std::int64_t change, std::int64_t whole, const Theme& theme) {
  if (std::abs(change) * 100 < whole) return theme.dim_text;  // below a hundredth nobody cares
  return change > 0 ? cause_color(theme, analyzer::Cause::barrier_wait)
                    : cause_color(theme, analyzer::Cause::compute);
}

void begin_columns(const char* first, std::initializer_list<const char*> others) {
  ImGui::TableSetupColumn(first, ImGuiTableColumnFlags_WidthStretch);
  for (const char* const title : others) ImGui::TableSetupColumn(title);
  ImGui::TableHeadersRow();
}

void change_cell(std::int64_t change, std::int64_t whole, const Theme& theme) {
  ImGui::TableNextColumn();
  right_aligned(analyzer::format_change(change), change_color(change, whole, theme));
}

void draw_causes(const analyzer::RunsDiff& diff, const Theme& theme) {
  if (!ImGui::BeginTable("causes", 4, ImGuiTableFlags_SizingFixedFit)) return;
  begin_columns("cause", {"A", "B", "change"});
  const auto row = [&](const char* label, const analyzer::TimePair& time, std::optional<Color> chip) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (chip) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float size = ImGui::GetTextLineHeight() * 0.7F;
      ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + size * 0.2F}, {at.x + size, at.y + size * 1.2F},
                                                to_imgui(*chip));
      ImGui::Dummy({size, size});
      ImGui::SameLine();
    }
    ImGui::TextUnformatted(label);
    ImGui::TableNextColumn();
    right_aligned(format_duration(time.a_ns));
    ImGui::TableNextColumn();
    right_aligned(format_duration(time.b_ns));
    change_cell(time.change_ns(), diff.step.a_ns, theme);
  };
  row("a rank's step", diff.step, std::nullopt);
  for (const analyzer::CauseDiff& cause : changed_causes(diff))
    row(label_of(diff, cause.cause), cause.time, cause_color(theme, cause.cause));
  ImGui::EndTable();
}

// Whose own work changed: a rank that takes longer makes the others wait.
void draw_ranks(const analyzer::RunsDiff& diff, const Fonts& fonts, const Theme& theme) {
  constexpr std::size_t kMost = 6;
  if (diff.ranks.size() < 2) return;
  heading(diff.ranks.size() > kMost ? "RANKS THAT CHANGED MOST" : "RANKS", fonts, theme);
  if (!ImGui::BeginTable("ranks", 4, ImGuiTableFlags_SizingFixedFit)) return;
  begin_columns("rank", {"step", "own work", "waiting"});
  for (const analyzer::RankDiff& rank : most_changed_ranks(diff, kMost)) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(fmt::format("{}", rank.rank).c_str());
    for (const std::int64_t change :
         {rank.step.change_ns(), rank.own.change_ns(), rank.step.change_ns() - rank.own.change_ns()})
      change_cell(change, diff.step.a_ns, theme);
  }
  ImGui::EndTable();
}

// At which step the timelines stand beside each other; "" where that is not known.
std::string aligned_step(const ComparedRuns& runs) {
  if (runs.a.scene().order_alone() || runs.b.scene().order_alone()) return "";
  return runs.alignment.aligned_at(runs.a.state().view, runs.b.state().view);
}

// A click on a step goes there in both.
Command draw(const PanelContext& context) {
  const RunDiff& diff = context.compared->diff;
  const Scene& a = context.compared->a.scene();
  const Scene& b = context.compared->b.scene();
  const Theme& theme = context.theme;
  const Fonts& fonts = context.fonts;
  const std::string aligned = aligned_step(*context.compared);
  Command command;
  say_runs(a, b, theme, fonts);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(sentence(diff).c_str());
  ImGui::PopTextWrapPos();
  if (!diff.split || diff.steps.empty()) return command;
  ImGui::PushFont(nullptr, fonts.small_size);
  ImGui::PushTextWrapPos(0);
  ImGui::TextColored(to_vec4(theme.dim_text), "%s", certainty(*diff.split).c_str());
  ImGui::TextColored(to_vec4(theme.dim_text), "Steps below are paired by %s.",
                     diff.by_number ? "number" : "position");
  if (!aligned.empty())
    ImGui::TextColored(to_vec4(theme.dim_text), "The timelines are aligned at the beginning of %s.",
                       aligned.c_str());
  ImGui::PopTextWrapPos();
  draw_causes(*diff.split, theme);
  draw_ranks(*diff.split, fonts, theme);
  heading("STEPS: A ABOVE, B BELOW", fonts, theme);
  std::int64_t longest = 1;
  for (const StepPair& pair : diff.steps) longest = std::max({longest, pair.a.window_ns, pair.b.window_ns});
  // Some steps are seen at least: where that is more than there is room for, the panel scrolls.
  constexpr float kLeastLines = 14;
  const float height =
      std::max(ImGui::GetContentRegionAvail().y, kLeastLines * ImGui::GetTextLineHeightWithSpacing());
  if (ImGui::BeginTable("steps", 3, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY, {0, height})) {
    ImGui::TableSetupColumn("step");
    ImGui::TableSetupColumn("bars", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("change");
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(diff.steps.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const StepPair& pair = diff.steps[static_cast<std::size_t>(i)];
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::PushID(i);
        if (ImGui::Selectable("##step", false, ImGuiSelectableFlags_SpanAllColumns)) {
          const auto place = parse_goto(a, fmt::format("step={}", pair.step_a));
          if (place.ok()) command = place.value();
        }
        ImGui::PopID();
        ImGui::SameLine(0, 0);
        right_aligned(fmt::format("{}", pair.step_a));
        ImGui::TableNextColumn();
        draw_bar(shares_of(pair.a.parts, longest, theme), fonts.small_size * 0.6F, fonts, theme);
        draw_bar(shares_of(pair.b.parts, longest, theme), fonts.small_size * 0.6F, fonts, theme);
        ImGui::TableNextColumn();
        const std::int64_t change = pair.b.window_ns - pair.a.window_ns;
        right_aligned(analyzer::format_change(change), change_color(change, pair.a.window_ns, theme));
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopFont();
  return command;
}

}  // namespace

const Panel panels::diff{
    .title = "Diff",
    .place = PanelPlace::above,
    .runs = PanelRuns::both,
    .draw = draw,
};

}  // namespace lockstep::viewer
