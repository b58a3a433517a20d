// A second X client beside the program under test, which does to its window what a user, a window manager and
// a file manager do. Everything that it waits for is an event of the X server, for two minutes at most.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
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
  bool wait_for_window();
  bool wait_for_title(const std::string& title);
  bool wait_until_gone();
  // Until the program has handled all that was sent before, and drawn a frame since.
  bool wait_for_frame();

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

  // What a file manager does: this list of URIs is dragged onto the window's middle and dropped there (XDND).
  // Returns "", or which step of that the program did not answer.
  std::string drop(const std::string& uri_list);

 private:
  struct Connection;
  std::unique_ptr<Connection> x_;
};

}  // namespace lockstep::end_to_end
