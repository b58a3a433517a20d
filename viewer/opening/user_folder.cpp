#include "viewer/opening/user_folder.h"

#include <cstdlib>

namespace lockstep::viewer {

std::filesystem::path user_folder(const char* variable, const char* in_home) {
  const auto value = [](const char* name) {
    const char* const set = std::getenv(name);
    return std::filesystem::path(set == nullptr ? "" : set);
  };
  const std::filesystem::path named = value(variable), home = value("HOME");
  // Relative ones are to be ignored, says the specification.
  if (named.is_absolute()) return named / "lockstep";
  return (home.empty() ? std::filesystem::temp_directory_path() : home / in_home) / "lockstep";
}

}  // namespace lockstep::viewer
