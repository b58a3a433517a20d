// Where a user's own files belong (XDG base directories).
#pragma once

#include <filesystem>

namespace lockstep::viewer {

// `lockstep` in the folder that the variable names ("XDG_STATE_HOME"), else in the usual one of the home
// folder
// (".local/state"), else, without a home, in that of temporary files. Need not exist.
std::filesystem::path user_folder(const char* variable, const char* in_home);

}  // namespace lockstep::viewer
