#include "cli/analysis/memory_limit/resident.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace lockstep::cli {

Resident::Resident()
    : file_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)),
      page_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))) {}

Resident::~Resident() {
  if (file_ >= 0) ::close(file_);
}

Resident::Bytes Resident::look() const noexcept {
  std::array<char, 256> text{};
  if (file_ < 0 || ::pread(file_, text.data(), text.size() - 1, 0) <= 0) return {};
  // "size resident shared …", in pages
  char* end = nullptr;
  (void)std::strtoull(text.data(), &end, 10);
  const std::uint64_t resident = std::strtoull(end, &end, 10);
  const std::uint64_t in_files = std::strtoull(end, nullptr, 10);
  return {resident * page_, (resident - std::min(resident, in_files)) * page_};
}

std::uint64_t most_resident() noexcept {
  struct rusage usage {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace lockstep::cli
