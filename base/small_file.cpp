#include "base/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace lockstep {

std::string read_small_file(const std::string& path, std::size_t most) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
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

}  // namespace lockstep
