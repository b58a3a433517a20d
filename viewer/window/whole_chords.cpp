#include "viewer/window/whole_chords.h"

#include <algorithm>

namespace lockstep::viewer {

namespace {

bool is_modifier(ImGuiKey key) {
  return (key & ImGuiMod_Mask_) != 0 || (key >= ImGuiKey_LeftCtrl && key <= ImGuiKey_RightSuper);
}

}  // namespace

int events_of_one_frame(const ImVector<ImGuiInputEvent>& events) {
  bool acted = false;
  for (int i = 0; i < events.Size; ++i) {
    const ImGuiInputEvent& event = events[i];
    if (event.Type == ImGuiInputEventType_Key && is_modifier(event.Key.Key)) {
      if (acted) return i;
    } else if (event.Type == ImGuiInputEventType_Key) {
      acted = acted || event.Key.Down;
    } else {
      acted = acted || event.Type == ImGuiInputEventType_MouseButton ||
              event.Type == ImGuiInputEventType_MouseWheel || event.Type == ImGuiInputEventType_Text;
    }
  }
  return events.Size;
}

void begin_frame_of_whole_chords() {
  ImVector<ImGuiInputEvent>& queue = ImGui::GetCurrentContext()->InputEventsQueue;
  const int now = events_of_one_frame(queue);
  ImVector<ImGuiInputEvent> later;
  later.resize(queue.Size - now);
  std::copy(queue.begin() + now, queue.end(), later.begin());
  queue.resize(now);
  ImGui::NewFrame();
  for (const ImGuiInputEvent& event : later) queue.push_back(event);
}

}  // namespace lockstep::viewer
