// The torch wheel ships ProcessGroupGloo.hpp but not the Gloo headers that it includes. These stand-ins
// declare just what that header names; every definition is in libtorch_cpu. Never construct, copy or take the
// size of these types.
#pragma once

#include <chrono>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

}  // namespace gloo
