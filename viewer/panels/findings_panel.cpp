// What the analysis found, the costliest first; a click shows it in the timeline.
#include <fmt/format.h>

#include "analyzer/report/all_clear.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/shared_time.h"
#include "analyzer/report/unicode.h"
#include "viewer/panels/panel_list.h"
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
    if (!finding.remedy.empty()) paragraph(shown(finding.remedy), theme.text);
    if (finding.place) {
      if (ImGui::SmallButton("show in the timeline")) command = show_finding(scene, finding);
      ImGui::SameLine();
    }
    if (ImGui::SmallButton("copy"))
      ImGui::SetClipboardText(fmt::format("{}\n{}\n", finding.title, finding.remedy).c_str());
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
