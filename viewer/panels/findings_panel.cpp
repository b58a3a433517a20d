// What the analysis found, the costliest first; a click shows it in the timeline, another one what it means.
#include <fmt/format.h>

#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/report/all_clear.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/shared_time.h"
#include "analyzer/report/unicode.h"
#include "viewer/panels/panel_list.h"
#include "viewer/panels/panel_parts.h"
#include "viewer/timeline/code_spans.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

Color severity_color(const std::string& severity, const Theme& theme) {
  if (severity == "high") return cause_color(theme, analyzer::Cause::barrier_wait);
  if (severity == "medium") return theme.warning;
  if (severity == "low") return theme.text;
  return theme.dim_text;
}

std::string shown(const std::string& text) {
  return analyzer::fit(quote_code(analyzer::printable(std::string_view(text).substr(0, 2000))), 500);
}

void paragraph(const std::string& text, const Color& color) {
  ImGui::PushTextWrapPos(0);
  ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(color));
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
}

// All that `lockstep explain` says of the kind, closed until somebody asks: on the line of the buttons if
// there is room.
void draw_explanation(const analyzer::FindingKind& kind, const Theme& theme, const Fonts& fonts) {
  constexpr const char* kLabel = "What this means";
  ImGui::SameLine();
  if (ImGui::GetContentRegionAvail().x < ImGui::GetTreeNodeToLabelSpacing() + ImGui::CalcTextSize(kLabel).x)
    ImGui::NewLine();
  ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(theme.dim_text));
  const bool open = ImGui::TreeNodeEx(kLabel, ImGuiTreeNodeFlags_NoAutoOpenOnLog);
  ImGui::PopStyleColor();
  if (!open) return;
  ImGui::PushStyleVarY(ImGuiStyleVar_ItemSpacing, 1);  // a heading stands at its text
  const auto heading = [&](const std::string& text) {
    ImGui::Dummy({0, 3});
    ImGui::PushFont(fonts.bold, fonts.small_size);
    paragraph(text, theme.dim_text);
    ImGui::PopFont();
  };
  const analyzer::Explanation& explanation = *kind.explanation;
  heading(fmt::format("{}: {}", kind.code, kind.title));
  paragraph(quote_code(explanation.meaning), theme.text);
  for (const analyzer::ExplanationPart& part : analyzer::parts_of(explanation)) {
    heading(part.heading);
    paragraph(quote_code(part.text), theme.text);
  }
  heading("what changes it");
  for (const analyzer::Remedy& remedy : explanation.remedies)
    paragraph(fmt::format("{}: {}", remedy.where, quote_code(remedy.what)), theme.text);
  ImGui::PopStyleVar();
  ImGui::TreePop();
}

// Where a rank computes longer: time a step of each part of the model, beside the other ranks'.
void draw_parts(const analyzer::Finding& finding, const Theme& theme) {
  const analyzer::ComparedParts& parts = finding.parts;
  if (parts.rows.empty() || parts.steps <= 0 || !finding.rank ||
      !ImGui::BeginTable("parts", 4, ImGuiTableFlags_SizingFixedFit))
    return;
  ImGui::TableSetupColumn("time a step in");
  ImGui::TableSetupColumn(fmt::format("rank {}", *finding.rank).c_str());
  ImGui::TableSetupColumn(parts.others == 1 ? "other rank" : "other ranks");
  ImGui::TableSetupColumn("difference");
  ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(theme.dim_text));
  ImGui::TableHeadersRow();
  ImGui::PopStyleColor();
  for (const analyzer::ComparedPart& row : parts.rows) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const std::string name = shown(analyzer::name_of(row, parts));
    ImGui::TextUnformatted(name.c_str());
    if (!row.module.empty() && !row.operation.empty() && ImGui::IsItemHovered())
      ImGui::SetTooltip("above all in %s", shown(row.operation).c_str());
    for (const std::string& cell : {analyzer::format_duration(row.own_ns / parts.steps),
                                    analyzer::format_duration(row.others_ns / parts.steps),
                                    analyzer::describe_difference(row, parts)}) {
      ImGui::TableNextColumn();
      right_aligned(cell);
    }
  }
  ImGui::EndTable();
}

Command draw(const PanelContext& context) {
  const Scene& scene = context.pane.scene();
  const Theme& theme = context.theme;
  const Fonts& fonts = context.fonts;
  Command command;
  const std::vector<analyzer::Finding>& findings = scene.report().findings;
  if (findings.empty()) {
    const std::optional<analyzer::NoAllClear> unknown = analyzer::why_no_all_clear(scene.report());
    paragraph(unknown ? shown(unknown->sentence()) : "Nothing was found that costs time worth a word.",
              theme.dim_text);
    return command;
  }
  ImGui::PushFont(nullptr, fonts.small_size);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const analyzer::Finding& finding = findings[i];
    ImGui::PushID(static_cast<int>(i));
    const ImVec2 from = ImGui::GetCursorScreenPos();
    ImGui::BeginGroup();
    ImGui::Indent(10);
    ImGui::PushFont(fonts.bold, fonts.small_size);
    paragraph(shown(finding.title), theme.text);
    ImGui::PopFont();
    std::string cost = finding.severity;
    if (finding.lost_ns > 0)
      cost += fmt::format(" · {}{} ({})", analyzer::format_share(finding.lost_share),
                          finding.share == analyzer::Share::of_steady ? " of all ranks' time"
                                                                      : analyzer::of_what(finding.share),
                          analyzer::format_duration(finding.lost_ns));
    if (const std::string shared = analyzer::describe_shared_time(scene.report(), finding); !shared.empty())
      cost += ", " + shared;
    paragraph(cost, severity_color(finding.severity, theme));
    for (const std::string& line : finding.evidence) paragraph(shown(line), theme.dim_text);
    draw_parts(finding, theme);
    if (!finding.remedy.empty()) paragraph(shown(finding.remedy), theme.text);
    if (finding.place) {
      if (ImGui::SmallButton("show in the timeline")) command = show_finding(scene, finding);
      ImGui::SameLine();
    }
    if (ImGui::SmallButton("copy"))
      ImGui::SetClipboardText(fmt::format("{}\n{}\n", finding.title, finding.remedy).c_str());
    if (const analyzer::FindingKind* const kind = analyzer::find_finding_kind(finding.code); kind != nullptr)
      draw_explanation(*kind, theme, fonts);
    ImGui::Unindent(10);
    ImGui::EndGroup();
    const ImVec2 to = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddRectFilled({from.x, from.y + 2}, {from.x + 3, to.y},
                                              to_imgui(severity_color(finding.severity, theme)));
    ImGui::Dummy({0, 6});
    ImGui::PopID();
  }
  ImGui::PopFont();
  return command;
}

}  // namespace

const Panel panels::findings{
    .title = "Findings",
    .place = PanelPlace::above,
    .draw = draw,
};

}  // namespace lockstep::viewer
