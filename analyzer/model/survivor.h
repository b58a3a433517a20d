// How a rank's warning `file_incomplete` tells that its process was killed and nothing of it is lost.
#pragma once

#include <string_view>

namespace lockstep::analyzer {

// Part of the warning's message: another process wrote what the killed one had recorded.
inline constexpr std::string_view kSurvivorWrote = "(--survive-kill)";

}  // namespace lockstep::analyzer
