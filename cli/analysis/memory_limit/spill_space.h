// Memory for large blocks that lies in a file on a disk: what is not used at the moment can be taken out of
// RAM at any time, without asking who uses it, and comes back when it is touched.
//
// The file is mapped shared, so that its pages are the system's to write and to read again. It has no name:
// it is gone with the process, however that ends. Room is reserved on the disk before a block is handed out:
// a disk that is full is a block that can't be had, never a SIGBUS.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/result.h"

namespace lockstep::cli {

class SpillSpace {
 public:
  // Blocks that are given back are kept for the next of their size, up to this many bytes each and together:
  // vectors that grow and go again and again cost no system call each.
  static constexpr std::size_t kLargestKept = std::size_t{4} << 20U;
  static constexpr std::size_t kKeptTogether = std::size_t{64} << 20U;
  static constexpr std::size_t kAlignment = 64;

  constexpr SpillSpace() = default;
  ~SpillSpace();
  SpillSpace(const SpillSpace&) = delete;
  SpillSpace& operator=(const SpillSpace&) = delete;

  // Makes the file in `folder`. Once a space. Errors: no such folder, a file system that is RAM itself, or
  // that can't reserve room.
  Status open(const std::string& folder);

  // Thread-safe, as the following. nullptr: the disk is full (why_not() says so), or open() was not called.
  // Aligned to kAlignment. What the block holds is not specified.
  void* allocate(std::size_t bytes) noexcept;
  void give_back(void* block) noexcept;
  bool is_open() const noexcept { return begin_.load(std::memory_order_relaxed) != 0; }
  bool owns(const void* block) const noexcept {
    return reinterpret_cast<std::uintptr_t>(block) - begin_.load(std::memory_order_relaxed) <
           size_.load(std::memory_order_relaxed);
  }
  // Takes the next `bytes` of address space out of RAM, going round from where the last call ended; for one
  // caller at a time. Whoever uses them meanwhile waits for the disk at most.
  void take_out(std::uint64_t bytes) noexcept;

  // From the first block to the end of the last: how far take_out() goes until it has gone round.
  std::uint64_t extent() const noexcept { return next_.load(std::memory_order_relaxed); }
  // Bytes that are reserved on the disk now.
  std::uint64_t reserved() const noexcept { return reserved_.load(std::memory_order_relaxed); }
  // The system's error number of the last block that could not be had; 0: all could.
  int why_not() const noexcept { return why_not_.load(std::memory_order_relaxed); }

 private:
  struct Header;
  static constexpr std::size_t kPage = 4096;

  Header* kept(std::size_t bytes) noexcept;
  bool keep(Header* block) noexcept;

  int file_ = -1;
  std::atomic<std::uintptr_t> begin_{0};
  std::atomic<std::uint64_t> size_{0};
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> reserved_{0};
  std::atomic<int> why_not_{0};
  std::uint64_t hand_ = 0;  // where take_out() goes on; used by one caller at a time

  std::mutex kept_lock_;
  std::array<Header*, kLargestKept / kPage + 1> kept_{};  // by pages
  std::size_t kept_bytes_ = 0;
};

}  // namespace lockstep::cli
