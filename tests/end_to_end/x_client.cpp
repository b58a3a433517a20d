#include "tests/end_to_end/x_client.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XTest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>

namespace lockstep::end_to_end {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes kMost{2};
constexpr long kXdndVersion = 5;
constexpr int kPings = 3;
// More than the viewer needs in which nothing may be seen to change: four for sizes, one for each panel that
// comes to the front.
constexpr int kAlike = 8;
constexpr int kMaxFrames = 200;

// What is sent to a window that is just going is no reason to end the test, as Xlib would.
int ignore_error(Display*, XErrorEvent*) {
  return 0;
}

void destroy(XImage* image) {
  XDestroyImage(image);
}

}  // namespace

struct XClient::Connection {
  Display* display = nullptr;
  Window root = 0;
  Window window = 0;  // of the program; 0: none yet
  Window source = 0;  // ours, which drops come from
  bool gone = false;
  int width = 0, height = 0;
  long pings_sent = 0, pings_answered = 0;
  std::string dropped;
  bool drop_accepted = false, drop_taken = false, drop_finished = false;

  Atom atom(const char* name) const { return ::XInternAtom(display, name, False); }

  void send(const char* type, long a, long b = 0, long c = 0, long d = 0, long e = 0) const {
    XEvent event{};
    event.xclient.type = ClientMessage;
    event.xclient.window = window;
    event.xclient.message_type = atom(type);
    event.xclient.format = 32;
    const long data[] = {a, b, c, d, e};
    std::copy(std::begin(data), std::end(data), event.xclient.data.l);
    ::XSendEvent(display, window, False, NoEventMask, &event);
  }

  // A property's bytes, of items of `format` bits; "" where there is none of that type.
  std::string property(const char* name, Atom type, int format) const {
    Atom actual_type = 0;
    int actual_format = 0;
    unsigned long count = 0, left = 0;
    unsigned char* data = nullptr;
    ::XGetWindowProperty(display, window, atom(name), 0, 100'000, False, type, &actual_type, &actual_format,
                         &count, &left, &data);
    std::string bytes;
    // Xlib gives items of 32 bits as longs.
    if (data != nullptr && actual_format == format)
      bytes.assign(reinterpret_cast<const char*>(data), count * (format == 32 ? sizeof(long) : 1));
    if (data != nullptr) ::XFree(data);
    return bytes;
  }

  void take(const XEvent& event) {
    switch (event.type) {
      case MapNotify:
        if (window != 0 || event.xmap.event != root || event.xmap.window == source) break;
        window = event.xmap.window;
        ::XSelectInput(display, window, PropertyChangeMask | StructureNotifyMask);
        break;
      case DestroyNotify:
        gone = gone || event.xdestroywindow.window == window;
        break;
      case ConfigureNotify:
        if (event.xconfigure.window != window) break;
        width = event.xconfigure.width;
        height = event.xconfigure.height;
        break;
      case ClientMessage:
        take_message(event.xclient);
        break;
      case SelectionRequest:
        give_what_is_dropped(event.xselectionrequest);
        break;
      default:
        break;
    }
  }

  void take_message(const XClientMessageEvent& message) {
    const long* const data = message.data.l;
    if (message.message_type == atom("WM_PROTOCOLS") && message.window == root &&
        static_cast<Atom>(data[0]) == atom("_NET_WM_PING"))
      pings_answered = std::max(pings_answered, data[1]);
    if (message.message_type == atom("XdndStatus")) drop_accepted = (data[1] & 1) != 0;
    if (message.message_type == atom("XdndFinished")) {
      drop_finished = true;
      // Bit 0 by the protocol; GLFW 3.3 answers with how many bytes it took.
      drop_taken = data[1] != 0;
    }
  }

  void give_what_is_dropped(const XSelectionRequestEvent& request) const {
    XEvent answer{};
    answer.xselection.type = SelectionNotify;
    answer.xselection.requestor = request.requestor;
    answer.xselection.selection = request.selection;
    answer.xselection.target = request.target;
    answer.xselection.time = request.time;
    answer.xselection.property = None;
    if (request.target == atom("text/uri-list")) {
      ::XChangeProperty(display, request.requestor, request.property, request.target, 8, PropModeReplace,
                        reinterpret_cast<const unsigned char*>(dropped.data()),
                        static_cast<int>(dropped.size()));
      answer.xselection.property = request.property;
    }
    ::XSendEvent(display, request.requestor, False, NoEventMask, &answer);
  }

  // What can be seen of the window; null where that can't be had.
  std::unique_ptr<XImage, decltype(&destroy)> picture() const {
    XWindowAttributes attributes;
    XImage* image = nullptr;
    if (::XGetWindowAttributes(display, window, &attributes) != 0)
      image = ::XGetImage(display, window, 0, 0, static_cast<unsigned>(attributes.width),
                          static_cast<unsigned>(attributes.height), AllPlanes, ZPixmap);
    return {image, destroy};
  }

  // `program`: a descriptor (pidfd) of the process with whose end the wait ends too; -1: of none.
  bool wait(const std::function<bool()>& condition, int program = -1) {
    const Clock::time_point until = Clock::now() + kMost;
    for (;;) {
      while (::XPending(display) > 0) {
        XEvent event;
        ::XNextEvent(display, &event);
        take(event);
      }
      if (condition()) return true;
      // The condition may have asked the server, and events have come with its answer.
      if (::XEventsQueued(display, QueuedAlready) > 0) continue;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) return false;
      pollfd ready[] = {{ConnectionNumber(display), POLLIN, 0}, {program, POLLIN, 0}};
      ::poll(ready, 2, static_cast<int>(left));
      const bool more = (ready[0].revents & POLLIN) != 0;
      if (!more && (ready[0].revents != 0 || ready[1].revents != 0)) return false;
    }
  }

  KeyCode key_code(const std::string& name) const {
    const KeyCode code = ::XKeysymToKeycode(display, ::XStringToKeysym(name.c_str()));
    if (code == 0) throw std::runtime_error("the keyboard has no key " + name);
    return code;
  }
};

XClient::XClient(const std::string& display) : x_(std::make_unique<Connection>()) {
  ::XSetErrorHandler(ignore_error);
  x_->display = ::XOpenDisplay(display.c_str());
  if (x_->display == nullptr) throw std::runtime_error("no X server at " + display);
  int event = 0, error = 0, major = 0, minor = 0;
  const bool can_type = ::XTestQueryExtension(x_->display, &event, &error, &major, &minor) == True;
  if (!can_type) {
    ::XCloseDisplay(x_->display);
    throw std::runtime_error("the X server at " + display + " has no XTEST");
  }
  x_->root = DefaultRootWindow(x_->display);
  x_->source = ::XCreateSimpleWindow(x_->display, x_->root, 0, 0, 1, 1, 0, 0, 0);
  // Windows that come, and what programs answer to a window manager.
  ::XSelectInput(x_->display, x_->root, SubstructureNotifyMask);
  ::XSync(x_->display, False);
}

XClient::~XClient() {
  ::XCloseDisplay(x_->display);
}

bool XClient::wait_for_window(pid_t program) {
  // Where there are none (-1), its end is found out by the time that passes.
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, program, 0));
  const bool came = x_->wait([this] { return x_->window != 0; }, descriptor);
  if (descriptor >= 0) ::close(descriptor);
  return came;
}

bool XClient::wait_for_title(const std::string& title) {
  return x_->wait([&] { return x_->gone || this->title() == title; }) && !x_->gone;
}

bool XClient::wait_until_gone() {
  return x_->wait([this] { return x_->gone; });
}

bool XClient::wait_for_frame() {
  // A program answers between two frames. It may answer two at once, but for the second is sent only after
  // the first is answered; the third makes up for answers that leave before all is handled.
  for (int i = 0; i < kPings; ++i) {
    const long ping = ++x_->pings_sent;
    x_->send("WM_PROTOCOLS", static_cast<long>(x_->atom("_NET_WM_PING")), ping,
             static_cast<long>(x_->window));
    if (!x_->wait([&] { return x_->gone || x_->pings_answered >= ping; }) || x_->gone) return false;
  }
  return true;
}

bool XClient::wait_until_settled() {
  std::string before;
  int alike = 0;
  for (int frame = 0; frame < kMaxFrames && alike < kAlike; ++frame) {
    if (!wait_for_frame()) return false;
    const auto image = x_->picture();
    if (image == nullptr) return false;
    std::string now(image->data, static_cast<std::size_t>(image->bytes_per_line) *
                                     static_cast<std::size_t>(image->height));
    alike = now == before ? alike + 1 : 0;
    before = std::move(now);
  }
  return alike == kAlike;
}

std::string XClient::title() const {
  return x_->property("_NET_WM_NAME", x_->atom("UTF8_STRING"), 8);
}

int XClient::pixels_of(std::uint32_t color) const {
  const auto image = x_->picture();
  if (image == nullptr) return -1;
  int count = 0;
  for (int y = 0; y < image->height; ++y)
    for (int x = 0; x < image->width; ++x)
      count += (XGetPixel(image.get(), x, y) & 0xFFFFFF) == color ? 1 : 0;
  return count;
}

void XClient::give_keyboard() {
  ::XSetInputFocus(x_->display, x_->window, RevertToParent, CurrentTime);
  ::XSync(x_->display, False);
}

void XClient::ask_to_close() {
  x_->send("WM_PROTOCOLS", static_cast<long>(x_->atom("WM_DELETE_WINDOW")), CurrentTime);
  ::XFlush(x_->display);
}

bool XClient::resize(int width, int height) {
  ::XResizeWindow(x_->display, x_->window, static_cast<unsigned>(width), static_cast<unsigned>(height));
  return x_->wait([&] { return x_->gone || (x_->width == width && x_->height == height); }) && !x_->gone;
}

std::pair<int, int> XClient::on_screen(int x, int y) const {
  Window child = 0;
  std::pair<int, int> place;
  ::XTranslateCoordinates(x_->display, x_->window, x_->root, x, y, &place.first, &place.second, &child);
  return place;
}

void XClient::point_at(int x, int y) {
  const auto [on_screen_x, on_screen_y] = on_screen(x, y);
  ::XTestFakeMotionEvent(x_->display, -1, on_screen_x, on_screen_y, CurrentTime);
  ::XSync(x_->display, False);
}

void XClient::press(const std::string& key, const std::vector<std::string>& held) {
  std::vector<KeyCode> codes;
  codes.reserve(held.size() + 1);
  for (const std::string& name : held) codes.push_back(x_->key_code(name));
  codes.push_back(x_->key_code(key));
  for (const KeyCode code : codes) ::XTestFakeKeyEvent(x_->display, code, True, CurrentTime);
  std::reverse(codes.begin(), codes.end());
  for (const KeyCode code : codes) ::XTestFakeKeyEvent(x_->display, code, False, CurrentTime);
  ::XSync(x_->display, False);
}

void XClient::press_hastily(const std::string& key, const std::vector<std::string>& held) {
  std::vector<KeyCode> codes;
  codes.reserve(held.size() + 1);
  for (const std::string& name : held) codes.push_back(x_->key_code(name));
  codes.push_back(x_->key_code(key));
  for (const int down : {True, False})
    for (const KeyCode code : codes) ::XTestFakeKeyEvent(x_->display, code, down, CurrentTime);
  ::XSync(x_->display, False);
}

void XClient::drag(int from_x, int to_x, int y, const std::string& held) {
  const KeyCode code = x_->key_code(held);
  const auto [left, left_y] = on_screen(from_x, y);
  const auto [right, right_y] = on_screen(to_x, y);
  ::XTestFakeMotionEvent(x_->display, -1, left, left_y, CurrentTime);
  ::XTestFakeKeyEvent(x_->display, code, True, CurrentTime);
  ::XTestFakeButtonEvent(x_->display, 1, True, CurrentTime);
  ::XTestFakeMotionEvent(x_->display, -1, right, right_y, CurrentTime);
  ::XTestFakeButtonEvent(x_->display, 1, False, CurrentTime);
  ::XTestFakeKeyEvent(x_->display, code, False, CurrentTime);
  ::XSync(x_->display, False);
}

std::string XClient::drop(const std::string& uri_list) {
  const std::string aware = x_->property("XdndAware", XA_ATOM, 32);
  if (aware.size() != sizeof(long)) return "the window says nothing of drops (XdndAware)";
  x_->dropped = uri_list;
  x_->drop_accepted = x_->drop_taken = x_->drop_finished = false;
  const auto source = static_cast<long>(x_->source);
  const auto copy = static_cast<long>(x_->atom("XdndActionCopy"));
  ::XSetSelectionOwner(x_->display, x_->atom("XdndSelection"), x_->source, CurrentTime);
  x_->send("XdndEnter", source, kXdndVersion << 24, static_cast<long>(x_->atom("text/uri-list")));
  XWindowAttributes attributes;
  ::XGetWindowAttributes(x_->display, x_->window, &attributes);
  Window child = 0;
  int x = 0, y = 0;
  ::XTranslateCoordinates(x_->display, x_->window, x_->root, attributes.width / 2, attributes.height / 2, &x,
                          &y, &child);
  x_->send("XdndPosition", source, 0, static_cast<long>(x) << 16 | y, CurrentTime, copy);
  if (!x_->wait([this] { return x_->gone || x_->drop_accepted; }) || x_->gone)
    return "no XdndStatus that accepts";
  x_->send("XdndDrop", source, 0, CurrentTime);
  if (!x_->wait([this] { return x_->gone || x_->drop_finished; }) || x_->gone) return "no XdndFinished";
  return x_->drop_taken ? "" : "XdndFinished says that it was not taken";
}

}  // namespace lockstep::end_to_end
