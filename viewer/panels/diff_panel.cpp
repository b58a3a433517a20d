// What changed from run A to run B: by cause, and step by step.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/widgets/imgui_canvas.h"
#include "viewer/widgets/run_choice.h"

namespace lockstep::viewer {

namespace {

using analyzer::format_duration;

std::string signed_duration(std::int64_t ns) {
  if (ns == 0) return "0";
  return (ns > 0 ? "+" : "−") + format_duration(std::abs(ns));
}

// More time is worse.
Color change_color(std::int64_t change, std::int64_t whole, const Theme& theme) {
  if (std::abs(change) * 100 < whole) return theme.dim_text;  // below a hundredth nobody cares
  return change > 0 ? cause_color(theme, analyzer::Cause::barrier_wait)
                    : cause_color(theme, analyzer::Cause::compute);
}

void draw_causes(const RunDiff& diff, const Theme& theme) {
  if (!ImGui::BeginTable("causes", 4, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("cause", ImGuiTableColumnFlags_WidthStretch);
  for (const char* const title : {"A", "B", "change"}) ImGui::TableSetupColumn(title);
  ImGui::TableHeadersRow();
  const auto row = [&](const char* label, std::int64_t a, std::int64_t b, std::optional<Color> chip) {
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
    right_aligned(format_duration(a));
    ImGui::TableNextColumn();
    right_aligned(format_duration(b));
    ImGui::TableNextColumn();
    right_aligned(signed_duration(b - a), change_color(b - a, diff.a.window_ns, theme));
  };
  row("a rank's step", diff.a.window_ns, diff.b.window_ns, std::nullopt);
  for (const CauseChange& change : changes(diff))
    row(cause_label(diff, change.cause), change.a_ns, change.b_ns, cause_color(theme, change.cause));
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
  if (diff.steps.empty()) return command;
  ImGui::PushFont(nullptr, fonts.small_size);
  ImGui::PushTextWrapPos(0);
  ImGui::TextColored(to_vec4(theme.dim_text), "%s",
                     fmt::format("Means of a rank's step over {}, paired by {}; ranks: {} and {}.",
                                 format_plural(static_cast<std::int64_t>(diff.steps.size()), "step"),
                                 diff.by_number ? "number" : "position", diff.a.ranks, diff.b.ranks)
                         .c_str());
  if (!aligned.empty())
    ImGui::TextColored(to_vec4(theme.dim_text), "The timelines are aligned at the beginning of %s.",
                       aligned.c_str());
  ImGui::PopTextWrapPos();
  draw_causes(diff, theme);
  heading("STEPS: A ABOVE, B BELOW", fonts, theme);
  std::int64_t longest = 1;
  for (const StepPair& pair : diff.steps) longest = std::max({longest, pair.a.window_ns, pair.b.window_ns});
  if (ImGui::BeginTable("steps", 3, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY)) {
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
        right_aligned(signed_duration(change), change_color(change, pair.a.window_ns, theme));
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
