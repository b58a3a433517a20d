#include "viewer/window/window.h"

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

#include <chrono>
//
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>
#include <implot.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "viewer/window/display_problem.h"
#include "viewer/window/whole_chords.h"

namespace lockstep::viewer {

namespace {

constexpr const char* kNoOpenGl =
    "\n  drawing in software: LIBGL_ALWAYS_SOFTWARE=1 lockstep view RUN (needs the package libgl1-mesa-dri)"
    "\n  a picture, if this display cannot: lockstep view RUN --screenshot FILE.png (it starts Xvfb itself)";

std::string last_glfw_message() {
  const char* message = nullptr;
  ::glfwGetError(&message);
  return message == nullptr ? "no reason given" : message;
}

// "" where it is not set.
std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

Result<std::unique_ptr<Window>> Window::open(const WindowOptions& options) {
  std::unique_ptr<Window> window(new Window);
  if (Status status = window->set_up(options); !status.ok()) return status.error();
  return window;
}

Status Window::set_up(const WindowOptions& options) {
  options_ = options;
  DisplayProblem problem{environment("DISPLAY"), environment("WAYLAND_DISPLAY"), ::glfwGetVersionString(),
                         ""};
  if (problem.x11.empty() && problem.wayland.empty()) return Error{explain(problem)};
  if (::glfwInit() != GLFW_TRUE) {
    problem.reason = last_glfw_message();
    return Error{explain(problem)};
  }
  ::glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  ::glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  ::glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  ::glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  ::glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  ::glfwWindowHint(GLFW_SCALE_TO_MONITOR, options.offscreen ? GLFW_FALSE : GLFW_TRUE);
  if (!options.offscreen) fit_screen();
  // Off-screen, the window only carries the context: what is drawn goes into a buffer.
  constexpr int kSmall = 64;
  window_ = ::glfwCreateWindow(options.offscreen ? kSmall : options_.width,
                               options.offscreen ? kSmall : options_.height, options.title.c_str(), nullptr,
                               nullptr);
  if (window_ == nullptr) {
    return Error{fmt::format("the window needs OpenGL 3.3, which this display does not have: {}{}",
                             last_glfw_message(), kNoOpenGl)};
  }
  ::glfwMakeContextCurrent(window_);
  ::glfwSwapInterval(options.offscreen ? 0 : 1);

  // Our own callbacks first: Dear ImGui's call them on.
  ::glfwSetWindowUserPointer(window_, this);
  const auto input = [](GLFWwindow* window) {
    static_cast<Window*>(::glfwGetWindowUserPointer(window))->had_input_ = true;
  };
  static const auto note = input;
  ::glfwSetCursorPosCallback(window_, [](GLFWwindow* w, double, double) { note(w); });
  ::glfwSetMouseButtonCallback(window_, [](GLFWwindow* w, int, int, int) { note(w); });
  ::glfwSetScrollCallback(window_, [](GLFWwindow* w, double, double) { note(w); });
  ::glfwSetKeyCallback(window_, [](GLFWwindow* w, int, int, int, int) { note(w); });
  // Input methods write without any key.
  ::glfwSetCharCallback(window_, [](GLFWwindow* w, unsigned) { note(w); });
  ::glfwSetWindowFocusCallback(window_, [](GLFWwindow* w, int focused) {
    note(w);
    if (focused != 0) static_cast<Window*>(::glfwGetWindowUserPointer(w))->was_focused_ = true;
  });
  ::glfwSetDropCallback(window_, [](GLFWwindow* w, int count, const char** paths) {
    note(w);
    auto& dropped = static_cast<Window*>(::glfwGetWindowUserPointer(w))->dropped_;
    dropped.insert(dropped.end(), paths, paths + count);
  });
  ::glfwSetCursorEnterCallback(window_, [](GLFWwindow* w, int) { note(w); });
  ::glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* w, int, int) { note(w); });
  ::glfwSetWindowRefreshCallback(window_, [](GLFWwindow* w) { note(w); });
  if (Status status = make_context(); !status.ok()) return status;
  return options.offscreen ? make_buffer() : Status{};
}

// Not larger than what there is to stand on: panels at its edges would never be seen.
void Window::fit_screen() {
  GLFWmonitor* const monitor = ::glfwGetPrimaryMonitor();
  if (monitor == nullptr) return;
  int x = 0, y = 0, width = 0, height = 0;
  ::glfwGetMonitorWorkarea(monitor, &x, &y, &width, &height);
  if (width <= 0 || height <= 0) return;
  options_.width = std::min(options_.width, width);
  options_.height = std::min(options_.height, height);
}

Status Window::make_context() {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImPlot::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_DockingEnable;
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  ImGui_ImplGlfw_InitForOpenGL(window_, !options_.offscreen);
  if (!ImGui_ImplOpenGL3_Init("#version 330 core")) {
    return Error{
        fmt::format("OpenGL 3.3 does not work on this display: its functions can't be loaded{}", kNoOpenGl)};
  }
  imgui_ = true;
  return {};
}

void Window::end_context() {
  if (imgui_) {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
  }
  imgui_ = false;
  if (ImGui::GetCurrentContext() != nullptr) {
    ImPlot::DestroyContext();
    ImGui::DestroyContext();
  }
}

void Window::renew() {
  end_context();
  // What worked once works again; if not, frames stay empty.
  (void)make_context().ok();
  had_input_ = true;
}

Status Window::make_buffer() {
  GLint largest = 0;
  ::glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (options_.width > largest || options_.height > largest) {
    return Error{fmt::format("--size {}x{} is larger than this OpenGL can draw: {} is the most",
                             options_.width, options_.height, largest)};
  }
  ::glGenFramebuffers(1, &buffer_);
  ::glGenRenderbuffers(1, &color_);
  ::glBindRenderbuffer(GL_RENDERBUFFER, color_);
  ::glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, options_.width, options_.height);
  ::glBindFramebuffer(GL_FRAMEBUFFER, buffer_);
  ::glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color_);
  if (::glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    return Error{"OpenGL can't draw off-screen here: its framebuffer is incomplete"};
  }
  return {};
}

Window::~Window() {
  end_context();
  if (window_ != nullptr) {
    if (buffer_ != 0) ::glDeleteFramebuffers(1, &buffer_);
    if (color_ != 0) ::glDeleteRenderbuffers(1, &color_);
    ::glfwDestroyWindow(window_);
  }
  ::glfwTerminate();
}

float Window::content_scale() const {
  float x = 1;
  float y = 1;
  ::glfwGetWindowContentScale(window_, &x, &y);
  return std::max({x, y, 0.5F});
}

Point Window::size() const {
  int width = options_.width;
  int height = options_.height;
  if (!options_.offscreen) ::glfwGetWindowSize(window_, &width, &height);
  return {static_cast<float>(width), static_cast<float>(height)};
}

bool Window::should_close() const {
  return ::glfwWindowShouldClose(window_) == GLFW_TRUE;
}

void Window::frame(Color background, const std::function<void()>& draw) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  if (options_.offscreen) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(options_.width), static_cast<float>(options_.height)};
    io.DisplayFramebufferScale = {1, 1};
    io.DeltaTime = 1.0F / 60;
    io.AddMousePosEvent(pointer_ ? pointer_->x : -FLT_MAX, pointer_ ? pointer_->y : -FLT_MAX);
  }
  const auto begin = std::chrono::steady_clock::now();
  begin_frame_of_whole_chords();
  // Dear ImGui spreads what was typed and clicked at once over several frames.
  had_input_ = had_input_ || !ImGui::GetCurrentContext()->InputEventsQueue.empty();
  draw();
  ImGui::Render();
  own_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!rasterizing_) {
    for (ImTextureData* const texture : *ImGui::GetDrawData()->Textures)
      if (texture->Status != ImTextureStatus_OK) ImGui_ImplOpenGL3_UpdateTexture(texture);
    return;
  }
  int width = options_.width;
  int height = options_.height;
  if (!options_.offscreen) ::glfwGetFramebufferSize(window_, &width, &height);
  ::glBindFramebuffer(GL_FRAMEBUFFER, buffer_);
  ::glViewport(0, 0, width, height);
  ::glClearColor(static_cast<float>(background.r) / 255, static_cast<float>(background.g) / 255,
                 static_cast<float>(background.b) / 255, 1);
  ::glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  if (options_.offscreen) return;
  if (!std::exchange(shown_, true)) ::glfwShowWindow(window_);
  ::glfwSwapBuffers(window_);
}

void Window::handle_events(bool wait) {
  if (wait) {
    ::glfwWaitEvents();
  } else {
    ::glfwPollEvents();
  }
}

void Window::handle_events_within(double seconds) {
  ::glfwWaitEventsTimeout(seconds);
}

void Window::wake() {
  ::glfwPostEmptyEvent();
}

void Window::set_title(const std::string& title) {
  ::glfwSetWindowTitle(window_, title.c_str());
}

std::vector<std::string> Window::take_dropped() {
  return std::exchange(dropped_, {});
}

bool Window::take_was_focused() {
  return std::exchange(was_focused_, false);
}

bool Window::take_had_input() {
  return std::exchange(had_input_, false);
}

Picture Window::read_pixels() const {
  Picture picture;
  picture.width = options_.width;
  picture.height = options_.height;
  const std::size_t stride = 3 * static_cast<std::size_t>(options_.width);
  std::vector<std::uint8_t> upwards(stride * static_cast<std::size_t>(options_.height));
  ::glBindFramebuffer(GL_FRAMEBUFFER, buffer_);
  ::glPixelStorei(GL_PACK_ALIGNMENT, 1);
  ::glReadPixels(0, 0, options_.width, options_.height, GL_RGB, GL_UNSIGNED_BYTE, upwards.data());
  picture.rgb.resize(upwards.size());
  for (std::size_t y = 0; y < static_cast<std::size_t>(options_.height); ++y) {
    const auto row = upwards.begin() + static_cast<std::ptrdiff_t>(
                                           (static_cast<std::size_t>(options_.height) - 1 - y) * stride);
    std::copy(row, row + static_cast<std::ptrdiff_t>(stride),
              picture.rgb.begin() + static_cast<std::ptrdiff_t>(y * stride));
  }
  return picture;
}

}  // namespace lockstep::viewer
