#include "analyzer/import/input_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

namespace lockstep::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnderstood =
    "Understood are: a run folder of `lockstep record` or its .lst files, and Kineto JSON (plain or gzip), "
    "one file a rank "
    "or a folder of them";

bool is_trace_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

Status add_file(const fs::path& path, InputFiles& out) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  if (error) return Error{fmt::format("{}: {}", path.string(), error.message())};
  out.files.push_back({path, InputKind::kineto, size});
  return {};
}

Status add_folder(const fs::path& folder, InputFiles& out) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored) && is_trace_name(at->path())) found.push_back(at->path());
  }
  if (error) return Error{fmt::format("{}: {}", folder.string(), error.message())};
  if (found.empty())
    return Error{fmt::format("{}: the folder holds no trace (no *.json, *.json.gz). {}", folder.string(),
                             kUnderstood)};
  std::sort(found.begin(), found.end());
  for (const fs::path& path : found)
    if (const Status status = add_file(path, out); !status.ok()) return status;
  return {};
}

}  // namespace

Result<InputFiles> find_input_files(const std::vector<std::string>& paths) {
  if (paths.empty()) return Error{fmt::format("no input given. {}", kUnderstood)};
  InputFiles out;
  for (const std::string& text : paths) {
    const fs::path path(text);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    Status added;
    if (status.type() == fs::file_type::not_found)
      return Error{fmt::format("{}: no such file or folder", text)};
    if (error) return Error{fmt::format("{}: {}", text, error.message())};
    if (fs::is_directory(status))
      added = add_folder(path, out);
    else if (fs::is_regular_file(status))
      added = add_file(path, out);
    else
      added = Error{fmt::format("{}: neither a file nor a folder", text)};
    if (!added.ok()) return added.error();
  }
  return out;
}

}  // namespace lockstep::analyzer
