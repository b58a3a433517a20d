// Words of warnings by which others know them.
#pragma once

#include <string_view>

namespace lockstep::trace {

// How the warning begins that a file was not closed.
inline constexpr std::string_view kNoFooter = "it has no footer";

}  // namespace lockstep::trace
