// The host range in which a thread waits for a collective or a message (PyTorch's wait()).
#pragma once

#include <string_view>

namespace lockstep::trace {

inline constexpr std::string_view kWaitForCommunication = "wait for communication";

}  // namespace lockstep::trace
