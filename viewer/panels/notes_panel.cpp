// Free text, and the marks with a note each.
#include <algorithm>
#include <array>
#include <string>

#include "viewer/panels/panel_list.h"
#include "viewer/timeline/describe.h"
#include "viewer/widgets/imgui_canvas.h"

namespace lockstep::viewer {

namespace {

int grow(ImGuiInputTextCallbackData* data) {
  auto& text = *static_cast<std::string*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
    text.resize(static_cast<std::size_t>(data->BufTextLen));
    data->Buf = text.data();
  }
  return 0;
}

// With the time around it in view, as much of it as before.
Command go_to(const TimeMark& mark, const TimelineState& state) {
  const auto half = static_cast<Nanoseconds>(std::min(state.view.span / 2, 1e18));
  return {.range = TimeRange{saturating_add(mark.time, -half), saturating_add(mark.time, half)}};
}

Command draw(const PanelContext& context) {
  TimelineState& state = context.pane.state();
  Command command;
  ImGui::PushFont(nullptr, context.fonts.small_size);
  ImGui::TextColored(to_vec4(context.theme.dim_text), "Notes and marks are kept beside the run.");
  state.notes.resize(std::max(state.notes.size(), std::size_t{1}));
  if (state.notes == std::string(1, '\0')) state.notes.clear();
  ImGui::InputTextMultiline("##notes", state.notes.data(), state.notes.capacity() + 1,
                            {-1, context.fonts.small_size * 8}, ImGuiInputTextFlags_CallbackResize, grow,
                            &state.notes);
  for (std::size_t i = 0; i < state.marks.size(); ++i) {
    TimeMark& mark = state.marks[i];
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::SmallButton("go")) command = go_to(mark, state);
    ImGui::SameLine();
    std::array<char, 200> note{};
    mark.note.copy(note.data(), note.size() - 1);
    ImGui::SetNextItemWidth(-1);
    const std::string hint =
        exact_duration(saturating_add(mark.time, -context.pane.scene().timeline().origin));
    if (ImGui::InputTextWithHint("##note", hint.c_str(), note.data(), note.size())) mark.note = note.data();
    ImGui::PopID();
  }
  ImGui::PopFont();
  return command;
}

}  // namespace

const Panel panels::notes{
    .title = "Notes",
    .place = PanelPlace::below,
    .runs = PanelRuns::first,
    .draw = draw,
};

}  // namespace lockstep::viewer
