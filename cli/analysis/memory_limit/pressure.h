// Keeps a process below a limit: takes the blocks of a SpillSpace out of RAM when it comes near.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "cli/analysis/memory_limit/resident.h"
#include "cli/analysis/memory_limit/spill_space.h"

namespace lockstep::cli {

class Pressure {
 public:
  // `limit` in bytes; `space` is to outlive it, and nobody else takes blocks out of it.
  Pressure(std::uint64_t limit, SpillSpace& space);

  // Thread-safe, as the next. Takes blocks out where the process, and `more` bytes that it is about to touch,
  // come near the limit; who calls meanwhile waits. Returns what it saw before.
  Resident::Bytes relieve(std::uint64_t more = 0) noexcept;
  // The same for a signal handler (running_time.h): it may have come in the middle of relieve().
  void relieve_in_handler() noexcept;

  // Whoever takes a block says so before. Now and then, by bytes and not by time, it is this thread that
  // makes room: where other programs keep the cores busy, a thread beside comes too late.
  void before_allocating(std::uint64_t bytes) noexcept;

  // From this many bytes on the process is near its limit.
  std::uint64_t high() const noexcept { return high_; }

 private:
  Resident::Bytes relieve_locked(std::uint64_t more) noexcept;

  const std::uint64_t limit_, high_, low_, between_looks_;
  SpillSpace& space_;
  const Resident resident_;
  std::atomic<std::uint64_t> asked_{0};
  std::mutex lock_;
  std::chrono::steady_clock::time_point not_before_;
};

}  // namespace lockstep::cli
