#include "viewer/widgets/run_choice.h"

#include <imgui.h>

#include <string>

#include "analyzer/report/unicode.h"
#include "viewer/opening/run_request.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

// Two of them fit into a panel of the usual width.
constexpr std::size_t kLongest = 22;

std::string short_name(const Scene& scene) {
  return analyzer::fit(run_name(scene), kLongest);
}

}  // namespace

std::string run_name(const Scene& scene) {
  const std::string name = analyzer::printable(last_part_of(scene.report().path));
  return name.empty() ? "run" : name;
}

bool choose_run(const Scene& a, const Scene& b, bool second, const Theme& theme, const Fonts& fonts) {
  const auto choice = [&](const char* letter, const Scene& scene, bool chosen) {
    ImGui::PushFont(chosen ? fonts.bold : nullptr, fonts.small_size);
    ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(chosen ? theme.text : theme.dim_text));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ImGui::GetStyle().FramePadding.x / 2, 0});
    // The name may change its looks, the button stays itself: "###A".
    const std::string label = std::string(letter) + "  " + short_name(scene) + "###" + letter;
    const bool clicked = ImGui::RadioButton(label.c_str(), chosen);
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    ImGui::PopFont();
    if (ImGui::IsItemHovered()) {
      const std::string path = analyzer::fit(analyzer::printable(scene.report().path.substr(0, 2000)), 400);
      ImGui::SetTooltip("%s", path.c_str());
    }
    return clicked;
  };
  if (choice("A", a, !second)) second = false;
  ImGui::SameLine();
  if (choice("B", b, second)) second = true;
  ImGui::Spacing();
  return second;
}

void say_run(const char* letter, const Scene& scene, const Theme& theme, const Fonts& fonts) {
  ImGui::PushFont(nullptr, fonts.small_size);
  ImGui::TextColored(to_vec4(theme.dim_text), "%s  %s", letter, short_name(scene).c_str());
  ImGui::PopFont();
  ImGui::Spacing();
}

void say_runs(const Scene& a, const Scene& b, const Theme& theme, const Fonts& fonts) {
  ImGui::PushFont(nullptr, fonts.small_size);
  ImGui::TextColored(to_vec4(theme.dim_text), "A  %s     B  %s", short_name(a).c_str(),
                     short_name(b).c_str());
  ImGui::PopFont();
  ImGui::Spacing();
}

}  // namespace lockstep::viewer
