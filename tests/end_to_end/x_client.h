// A second X client beside the program under test, which does to its window what a user, a window manager and
// a file manager do. Everything that it waits for is an event of the X server, for two minutes at most.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::end_to_end {

class XClient {
 public:
  // To be made before the program is started, whose first window it then finds. Throws where the server does
  // not answer, or can't make up input (XTEST).
  explicit XClient(const std::string& display);
  ~XClient();
  XClient(const XClient&) = delete;
  XClient& operator=(const XClient&) = delete;

  // Each is false where what is waited for never came.
  bool wait_for_window(pid_t program);  // nor will it once the program, a child of ours, has ended
  bool wait_for_title(const std::string& title);
  bool wait_until_gone();
  // Until the program has handled all that was sent before, and drawn a frame since.
  bool wait_for_frame();
  // Until its frames look alike: panels find their sizes and come to the front one frame after another. The
  // whole window has to be on the screen. Gives up on one that never comes to rest.
  bool wait_until_settled();

  // What stands in the window's frame (_NET_WM_NAME).
  std::string title() const;
  // How many of the window's pixels have this colour, 0xRRGGBB. All of it has to be on the screen.
  int pixels_of(std::uint32_t color) const;

  // What a window manager does.
  void give_keyboard();
  void ask_to_close();  // WM_DELETE_WINDOW
  bool resize(int width, int height);

  // What a user does; the server can't tell it from mouse and keyboard. Keys as X names them: "q",
  // "Control_L".
  void point_at(int x, int y);
  void press(const std::string& key, const std::vector<std::string>& held = {});
  // The same, where what is held is let go of before the key.
  void press_hastily(const std::string& key, const std::vector<std::string>& held);
  // All at once: the left button between two places of the window.
  void drag(int from_x, int to_x, int y, const std::string& held);

  // What a file manager does: this list of URIs is dragged onto the window's middle and dropped there (XDND).
  // Returns "", or which step of that the program did not answer.
  std::string drop(const std::string& uri_list);

 private:
  struct Connection;
  std::pair<int, int> on_screen(int x, int y) const;
  std::unique_ptr<Connection> x_;
};

}  // namespace lockstep::end_to_end
