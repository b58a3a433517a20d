#include "base/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

namespace lockstep {

int open_regular_file(const std::string& path) noexcept {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0 || S_ISREG(status.st_mode)) return file;
  close(file);
  errno = EINVAL;
  return -1;
}

std::string read_small_file(const std::string& path, std::size_t most) {
  std::string text;
  const int file = open_regular_file(path);
  if (file < 0) return text;
  std::array<char, 4096> part{};
  ssize_t length = 0;
  while (text.size() < most &&
         (length = read(file, part.data(), std::min(part.size(), most - text.size()))) > 0) {
    text.append(part.data(), static_cast<std::size_t>(length));
  }
  close(file);
  return text;
}

std::optional<std::string> read_all_or_nothing(const std::string& path) {
  const int file = open_regular_file(path);
  if (file < 0) return std::nullopt;
  std::string text;
  std::array<char, 4096> part{};
  ssize_t length = 0;
  int reason = 0;
  try {
    do {
      length = read(file, part.data(), part.size());
      reason = errno;
      if (length > 0) text.append(part.data(), static_cast<std::size_t>(length));
    } while (length > 0 || (length < 0 && reason == EINTR));
  } catch (...) {
    close(file);
    throw;
  }
  close(file);
  errno = reason;
  return length == 0 ? std::optional(std::move(text)) : std::nullopt;
}

bool write_whole(int file, std::string_view text) noexcept {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

bool put_on_disk(int file) noexcept {
  int failed = 0;
  do {
    failed = fdatasync(file);
  } while (failed != 0 && errno == EINTR);
  return failed == 0 || errno == EINVAL;
}

Status replace_small_file(const std::string& path, std::string_view text) {
  const std::string part = path + ".part";
  unlink(part.c_str());  // what a process left that was killed; opening a named pipe would wait
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  bool written = file >= 0 && write_whole(file, text);
  int reason = errno;
  if (file >= 0 && close(file) != 0 && errno != EINTR && written) {
    written = false;
    reason = errno;
  }
  if (written && rename(part.c_str(), path.c_str()) == 0) return {};
  if (written) reason = errno;
  if (file >= 0) unlink(part.c_str());
  return Error{"cannot write '" + path + "': " + std::strerror(reason)};
}

}  // namespace lockstep
