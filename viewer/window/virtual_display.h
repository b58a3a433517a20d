// A private X server without a screen (Xvfb), for pictures on machines that have no display.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace lockstep::viewer {

// Runs while the object lives; ends with the process even if that is killed.
class VirtualDisplay {
 public:
  // Waits until the server answers. Errors: Xvfb is not installed, or does not start.
  static Result<VirtualDisplay> start(int width, int height);
  VirtualDisplay(VirtualDisplay&& other) noexcept;
  VirtualDisplay& operator=(VirtualDisplay&&) = delete;
  ~VirtualDisplay();

  // For the environment variable DISPLAY: ":99".
  const std::string& name() const { return name_; }

 private:
  VirtualDisplay(pid_t process, std::string name) : process_(process), name_(std::move(name)) {}
  pid_t process_ = -1;
  std::string name_;
};

}  // namespace lockstep::viewer
