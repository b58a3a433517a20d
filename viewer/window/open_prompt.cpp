#include "viewer/window/open_prompt.h"

#include <fmt/format.h>
#include <imgui.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "analyzer/report/unicode.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

Result<std::string> path_of(const std::string& typed) {
  const std::size_t begin = typed.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return Error{"type the path of a run folder or of a trace file"};
  std::string path = typed.substr(begin, typed.find_last_not_of(" \t\n") - begin + 1);
  const char* const home = std::getenv("HOME");
  if (home != nullptr && (path == "~" || path.starts_with("~/"))) path = home + path.substr(1);
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Error{fmt::format("there is nothing at {}", analyzer::printable(path))};
  return path;
}

std::optional<std::string> OpenPrompt::draw(const Theme& theme, const Fonts& fonts) {
  constexpr const char* kName = "Open a run";
  const bool fresh = std::exchange(asked_, false);
  if (fresh) {
    ImGui::OpenPopup(kName);
    error_.clear();
  }
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(
      {viewport.WorkPos.x + viewport.WorkSize.x / 2, viewport.WorkPos.y + viewport.WorkSize.y * 0.24F},
      ImGuiCond_Always, {0.5F, 0});
  ImGui::SetNextWindowSize({std::min(fonts.normal_size * 44, viewport.WorkSize.x * 0.9F), 0});
  open_ = ImGui::BeginPopup(kName);
  if (!open_) return std::nullopt;
  ImGui::PushFont(fonts.bold, fonts.small_size);
  ImGui::TextColored(to_vec4(theme.dim_text), "OPEN A RUN");
  ImGui::PopFont();
  if (fresh) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  const bool entered = ImGui::InputTextWithHint(
      "##path", "a run folder, a trace file, or a folder of trace files", text_.data(), text_.size(),
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  std::optional<std::string> chosen;
  if (entered) {
    const Result<std::string> path = path_of(text_.data());
    error_ = path.ok() ? "" : path.error().message;
    if (path.ok()) {
      chosen = path.value();
      ImGui::CloseCurrentPopup();
    } else {
      ImGui::SetKeyboardFocusHere(-1);
    }
  }
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ImGui::CloseCurrentPopup();
  ImGui::PushFont(nullptr, fonts.small_size);
  ImGui::PushTextWrapPos(0);
  ImGui::TextColored(to_vec4(error_.empty() ? theme.dim_text : theme.warning), "%s",
                     error_.empty() ? "Enter opens it, Esc closes this." : error_.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::EndPopup();
  return chosen;
}

}  // namespace lockstep::viewer
