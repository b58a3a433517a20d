#include "reference_trainer/data/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <vector>

namespace lockstep::trainer {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kSniffedBytes = 4096;

Result<std::string> read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error{fmt::format("cannot open '{}' to read it", path.string())};
  std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) return Error{fmt::format("cannot read '{}'", path.string())};
  return bytes;
}

bool is_text(const std::string& bytes) {
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), kSniffedBytes));
  return std::find(bytes.begin(), end, '\0') == end;
}

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

Result<std::vector<fs::path>> files_under(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (is_hidden(entry->path())) {
      if (entry->is_directory(ignored)) entry.disable_recursion_pending();
    } else if (entry->is_regular_file(ignored)) {
      files.push_back(entry->path());
    }
  }
  if (error) return Error{fmt::format("cannot list '{}': {}", folder.string(), error.message())};
  std::sort(files.begin(), files.end());
  return files;
}

Result<Text> join(const std::vector<fs::path>& files, const fs::path& source) {
  Text text{.bytes = {}, .source = source.string(), .files = 0};
  for (const fs::path& file : files) {
    Result<std::string> bytes = read_file(file);
    if (!bytes.ok()) return bytes.error();
    if (bytes.value().empty() || !is_text(bytes.value())) continue;
    if (!text.bytes.empty()) text.bytes += '\n';
    text.bytes += bytes.value();
    ++text.files;
  }
  if (text.bytes.empty()) return Error{fmt::format("'{}' holds no text", source.string())};
  return text;
}

// README.md and docs/*.md under `root`; empty where `root` is not this project.
std::vector<fs::path> documentation_under(const fs::path& root) {
  std::error_code error;
  if (!fs::is_regular_file(root / "docs" / "instrumentation.md", error)) return {};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(root / "docs", error)) {
    if (entry.path().extension() == ".md" && entry.is_regular_file(error)) files.push_back(entry.path());
  }
  if (fs::is_regular_file(root / "README.md", error)) files.push_back(root / "README.md");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<Text> load_text(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return Error{fmt::format("--data '{}' does not exist", path.string())};
  }
  if (status.type() == fs::file_type::directory) {
    Result<std::vector<fs::path>> files = files_under(path);
    if (!files.ok()) return files.error();
    return join(files.value(), path);
  }
  if (status.type() != fs::file_type::regular) {
    return Error{fmt::format("--data '{}' is neither a file nor a folder that can be read", path.string())};
  }
  return join({path}, path);
}

Result<Text> load_documentation() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  const fs::path bin = executable.parent_path();
  const fs::path prefix = bin.parent_path();
  const std::array candidates{prefix / "share" / "lockstep", prefix, prefix.parent_path(),
                              prefix.parent_path().parent_path(), fs::path(LOCKSTEP_SOURCE_DIR)};
  for (const fs::path& root : candidates) {
    const std::vector<fs::path> files = documentation_under(root);
    if (!files.empty()) return join(files, root);
  }
  return Error{
      fmt::format("the project's documentation was not found near '{}': name a text with --data PATH",
                  executable.string())};
}

}  // namespace lockstep::trainer
