#include "tracer/inject/core/own_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "tracer/inject/core/own_descriptor.h"

namespace lockstep::tracer {

namespace {

constexpr std::size_t kMost = std::size_t{64} << 10U;

OwnDescriptor open_to_read(const char* path) noexcept {
  return OwnDescriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

// Not read(), which would take from the program what it is to read, where the number is its own by now.
std::size_t read_at(int file, std::size_t from, std::span<char> buffer) noexcept {
  const ssize_t length = pread(file, buffer.data(), buffer.size(), static_cast<off_t>(from));
  return length > 0 ? static_cast<std::size_t>(length) : 0;
}

}  // namespace

std::string_view read_own_file(const char* path, std::span<char> buffer) noexcept {
  const OwnDescriptor file = open_to_read(path);
  const int number = file.number();
  std::size_t done = 0;
  while (done < buffer.size()) {
    const std::size_t length = read_at(number, done, buffer.subspan(done));
    if (length == 0) break;
    done += length;
  }
  return {buffer.data(), done};
}

std::string read_own_file(const std::string& path) {
  const OwnDescriptor file = open_to_read(path.c_str());
  const int number = file.number();
  std::string text;
  std::array<char, 4096> part{};
  while (text.size() < kMost) {
    const std::size_t length = read_at(number, text.size(), part);
    if (length == 0) break;
    text.append(part.data(), length);
  }
  return text;
}

}  // namespace lockstep::tracer
