#include "cli/analysis/different_paths.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <system_error>

namespace lockstep::cli {

Status check_different_paths(std::vector<std::string> paths, const std::vector<std::string>& others) {
  paths.insert(paths.end(), others.begin(), others.end());
  for (std::size_t i = 0; i < paths.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      std::error_code none;
      if (paths[i] == paths[k] || std::filesystem::equivalent(paths[i], paths[k], none))
        return Error{fmt::format("{} and {} are the same run: give different ones", paths[k], paths[i])};
    }
  return {};
}

}  // namespace lockstep::cli
