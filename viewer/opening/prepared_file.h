// Where the prepared form of a run is kept, and what tells that it is still of these files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::viewer {

// All files that the paths lead to.
struct InputFiles {
  std::uint64_t fingerprint = 0;  // of their names, sizes and times of change
  std::uint64_t bytes = 0;
  std::size_t count = 0;
};
InputFiles look_at(const std::vector<std::string>& paths);

// Beside the run: `RUN/.lockstep-view`, `trace.json.lockstep-view`; of several paths, beside the first. Where
// nobody may write there, in the user's cache folder ($XDG_CACHE_HOME/lockstep/views), which is made if need
// be.
std::filesystem::path prepared_file_of(const std::vector<std::string>& paths);

// Where view, marks and notes are kept: the same with `-session`. (Not `.json`: that would be read as a
// trace.)
std::filesystem::path session_file_of(const std::vector<std::string>& paths);
// Where the arrangement of the panels is kept, of all runs: $XDG_CONFIG_HOME/lockstep/view-layout.ini.
std::filesystem::path layout_file();

}  // namespace lockstep::viewer
