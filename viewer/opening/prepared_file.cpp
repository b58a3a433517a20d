#include "viewer/opening/prepared_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <system_error>

#include "trace/format/checksum.h"
#include "viewer/opening/user_folder.h"

namespace lockstep::viewer {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".lockstep-view";

std::uint64_t hash_of(const std::string& text, std::uint64_t seed = 0) {
  return trace::format::checksum(std::as_bytes(std::span(text)), seed);
}

void add_file(const fs::path& path, std::vector<std::string>& lines, std::uint64_t& bytes) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return;
  const fs::file_time_type changed = fs::last_write_time(path, error);
  if (error) return;
  bytes += size;
  lines.push_back(fmt::format("{}\n{}\n{}\n", path.string(), size, changed.time_since_epoch().count()));
}

bool is_ours(const fs::path& path) {
  return path.filename().string().find(kSuffix) != std::string::npos;
}

fs::path cache_folder() {
  return user_folder("XDG_CACHE_HOME", ".cache") / "views";
}

}  // namespace

InputFiles look_at(const std::vector<std::string>& paths) {
  InputFiles files;
  std::vector<std::string> lines;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      add_file(path, lines, files.bytes);
      continue;
    }
    fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      std::error_code unreadable;
      if (entry->is_regular_file(unreadable) && !is_ours(entry->path()))
        add_file(entry->path(), lines, files.bytes);
    }
  }
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) files.fingerprint = hash_of(line, files.fingerprint);
  files.count = lines.size();
  return files;
}

fs::path prepared_file_of(const std::vector<std::string>& paths) {
  std::error_code error;
  std::string all;
  for (const std::string& path : paths) all += fs::absolute(path, error).lexically_normal().string() + "\n";
  const std::string several = paths.size() > 1 ? fmt::format("-{:016x}", hash_of(all)) : std::string();
  const fs::path first = paths.empty() ? fs::path(".") : fs::path(paths.front());
  const bool folder = fs::is_directory(first, error);
  const fs::path parent = folder ? first : first.has_parent_path() ? first.parent_path() : fs::path(".");
  if (::access(parent.c_str(), W_OK) == 0)
    return parent / ((folder ? std::string() : first.filename().string()) + kSuffix + several);
  fs::create_directories(cache_folder(), error);
  return cache_folder() / fmt::format("{:016x}{}", hash_of(all), kSuffix);
}

fs::path session_file_of(const std::vector<std::string>& paths) {
  return prepared_file_of(paths).string() + "-session";
}

fs::path layout_file() {
  return user_folder("XDG_CONFIG_HOME", ".config") / "view-layout.ini";
}

}  // namespace lockstep::viewer
