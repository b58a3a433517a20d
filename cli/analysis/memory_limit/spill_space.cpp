#include "cli/analysis/memory_limit/spill_space.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace lockstep::cli {

// In front of each block.
struct SpillSpace::Header {
  std::size_t bytes = 0;  // of the whole block, in pages
  Header* next = nullptr;
};

namespace {

// How much address space is asked for: the first that the system grants (a limit on address space, or a file
// system with small files, may refuse more).
#ifdef __SANITIZE_THREAD__
// ThreadSanitizer leaves programs 1.5 TiB.
constexpr std::array<std::uint64_t, 1> kSizes{std::uint64_t{64} << 30U};
#else
constexpr std::array<std::uint64_t, 6> kSizes{std::uint64_t{8} << 40U,   std::uint64_t{1} << 40U,
                                              std::uint64_t{128} << 30U, std::uint64_t{16} << 30U,
                                              std::uint64_t{4} << 30U,   std::uint64_t{1} << 30U};
#endif

std::string reason(int error) {
  return std::strerror(error);  // NOLINT(concurrency-mt-unsafe): glibc's is safe
}

// A file without a name.
int make_file(const std::string& folder) {
  const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
  if (unnamed >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return unnamed;
  std::string path = folder + "/lockstep-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(path.c_str());
  return named;
}

}  // namespace

SpillSpace::~SpillSpace() {
  const std::uintptr_t begin = begin_.load();
  if (begin != 0)
    ::munmap(reinterpret_cast<void*>(begin), size_.load());  // NOLINT(performance-no-int-to-ptr)
  if (file_ >= 0) ::close(file_);
}

Status SpillSpace::open(const std::string& folder) {
  const auto failed = [&](const std::string& why) {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
    return Error{"'" + folder + "': " + why};
  };
  file_ = make_file(folder);
  if (file_ < 0) return failed(reason(errno));
  struct statfs system {};
  if (::fstatfs(file_, &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC))
    return failed("this folder is held in memory itself; name one on a disk");
  if (::fallocate(file_, 0, 0, kPage) != 0)
    return failed("its file system can't reserve room (" + reason(errno) +
                  "); name a folder on a local disk");
  for (const std::uint64_t size : kSizes) {
    void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
    if (mapped == MAP_FAILED) continue;
    ::madvise(mapped, size, MADV_DONTDUMP);
    begin_.store(reinterpret_cast<std::uintptr_t>(mapped));
    size_.store(size);
    return {};
  }
  return failed("it can't be mapped: " + reason(errno));
}

void* SpillSpace::allocate(std::size_t bytes) noexcept {
  const std::uintptr_t begin = begin_.load(std::memory_order_relaxed);
  const std::uint64_t size = size_.load(std::memory_order_relaxed);
  if (begin == 0 || bytes > size) return nullptr;
  const std::size_t whole = (bytes + kAlignment + kPage - 1) / kPage * kPage;
  Header* header = kept(whole);
  if (header == nullptr) {
    const std::uint64_t place = next_.fetch_add(whole, std::memory_order_relaxed);
    int error = 0;
    if (place + whole > size) {
      error = ENOMEM;
    } else {
      while (::fallocate(file_, 0, static_cast<off_t>(place), static_cast<off_t>(whole)) != 0) {
        error = errno;
        if (error != EINTR) break;
        error = 0;
      }
    }
    if (error != 0) {
      why_not_.store(error, std::memory_order_relaxed);
      return nullptr;
    }
    reserved_.fetch_add(whole, std::memory_order_relaxed);
    header = new (reinterpret_cast<void*>(begin + place))
        Header{whole, nullptr};  // NOLINT(performance-no-int-to-ptr)
  }
  return reinterpret_cast<std::byte*>(header) + kAlignment;
}

void SpillSpace::give_back(void* block) noexcept {
  auto* const header = reinterpret_cast<Header*>(static_cast<std::byte*>(block) - kAlignment);
  if (keep(header)) return;
  const std::size_t bytes = header->bytes;
  const auto place = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(header) - begin_.load());
  // Takes it out of RAM too. Where the file system knows no holes, the room is lost until the process ends.
  if (::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place, static_cast<off_t>(bytes)) == 0)
    reserved_.fetch_sub(bytes, std::memory_order_relaxed);
}

SpillSpace::Header* SpillSpace::kept(std::size_t bytes) noexcept {
  if (bytes > kLargestKept) return nullptr;
  const std::scoped_lock lock(kept_lock_);
  Header*& first = kept_[bytes / kPage];
  Header* const found = first;
  if (found == nullptr) return nullptr;
  first = found->next;
  kept_bytes_ -= bytes;
  return found;
}

bool SpillSpace::keep(Header* block) noexcept {
  const std::size_t bytes = block->bytes;
  if (bytes > kLargestKept) return false;
  const std::scoped_lock lock(kept_lock_);
  if (kept_bytes_ + bytes > kKeptTogether) return false;
  Header*& first = kept_[bytes / kPage];
  block->next = first;
  first = block;
  kept_bytes_ += bytes;
  return true;
}

void SpillSpace::take_out(std::uint64_t bytes) noexcept {
  const std::uint64_t end = std::min(extent(), size_.load(std::memory_order_relaxed));
  if (end == 0) return;
  bytes = std::min(bytes, end);
  while (bytes > 0) {
    if (hand_ >= end) hand_ = 0;
    const std::uint64_t part = std::min(bytes, end - hand_);
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    ::madvise(reinterpret_cast<void*>(begin_.load(std::memory_order_relaxed) + hand_), part, MADV_DONTNEED);
    hand_ = (hand_ + part) / kPage * kPage;
    bytes -= part;
  }
}

}  // namespace lockstep::cli
