#include "tracer/inject/sources/host/files.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "tracer/inject/core/own_descriptor.h"
#include "tracer/inject/core/own_file.h"

namespace lockstep::tracer::host {

namespace {

constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

// What getdents64 writes.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
};
constexpr std::size_t kNameAt = 19;

}  // namespace

Amount read_number(const char* path) noexcept {
  std::array<char, 32> text{};
  return parse_number(read_own_file(path, text));
}

std::size_t list_numbers(const char* folder, std::span<std::uint32_t> numbers) noexcept {
  const OwnDescriptor file(open(folder, kFlags | O_DIRECTORY));
  std::size_t count = 0;
  alignas(8) std::array<char, 4096> part{};
  while (count < numbers.size()) {
    const long length = syscall(SYS_getdents64, file.number(), part.data(), part.size());
    if (length <= 0) break;
    for (long at = 0; at < length && count < numbers.size();) {
      Entry entry{};
      std::memcpy(&entry, part.data() + at, kNameAt);
      const char* const name = part.data() + at + kNameAt;
      if (const Amount number = parse_number(name)) numbers[count++] = static_cast<std::uint32_t>(*number);
      if (entry.length == 0) break;
      at += entry.length;
    }
  }
  return count;
}

}  // namespace lockstep::tracer::host
