// Which threads of the process are followed: those that train, PyTorch's autograd threads, and the pool that
// computes for them. The pool's threads (OpenMP) tell nobody who they are: they have the name of the thread
// that made them, communicate nothing, run no Python, and sleep in nothing but a futex. A thread that is once
// seen to wait for events (Gloo's, which has that name too) is of no pool, whatever it seemed while it ran.
// Nor is one of the program's own Python threads (an exporter, a prefetcher), which have the name as well.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "tracer/inject/sources/scheduling/run_profile.h"

namespace lockstep::tracer::scheduling {

// On the sampling thread; log() by any.
class FollowedThreads {
 public:
  static constexpr std::size_t kMaxListed = 512;
  static constexpr std::size_t kMaxLogged = 256;

  struct Entry {
    std::uint32_t thread = 0;
    trace::Nanoseconds since = 0;
  };

  // Follows what has come and is to be followed. With `list`, looks at all threads of the process; without,
  // at those alone that have been told to train.
  void update(RunProfile& profile, trace::Nanoseconds now, bool list) noexcept;
  // In which a thread is followed; 0: none.
  std::uint32_t in_slot(std::size_t slot) const noexcept { return slots_[slot]; }
  std::size_t slots() const noexcept { return used_; }
  // The thread is gone.
  void leave(std::size_t slot) noexcept { slots_[slot] = 0; }

  // False once a thread's wait for a core could not be read: then nothing more can be told.
  bool can_read() const noexcept { return can_read_; }
  // Every thread that is followed or was, since when. What is there stays.
  std::size_t logged() const noexcept { return logged_.load(std::memory_order_acquire); }
  Entry log(std::size_t n) const noexcept { return log_[n]; }

 private:
  bool is_followed(std::uint32_t thread) const noexcept;
  bool belongs_to_pool(std::uint32_t thread) const noexcept;
  // Leaves those of the pool that wait for events now, or turn out to be Python's; forgets of the former what
  // has ended.
  void sort_out_listed(std::size_t count) noexcept;
  void note_waiting(std::uint32_t thread) noexcept;
  void follow(std::uint32_t thread, RunProfile& profile, trace::Nanoseconds now, bool is_new) noexcept;

  std::array<std::uint32_t, kMaxFollowed> slots_{};
  std::size_t used_ = 0;  // slots that ever were
  std::array<std::uint32_t, kMaxListed> listed_{}, listed_before_{};
  std::size_t listed_before_count_ = 0;
  std::array<std::uint32_t, kMaxListed> waiting_for_events_{};  // of no pool
  std::size_t waiting_count_ = 0;
  trace::Nanoseconds listed_at_ = 0;  // 0: never
  bool can_read_ = true;
  std::array<Entry, kMaxLogged> log_{};
  std::atomic<std::size_t> logged_{0};
};

}  // namespace lockstep::tracer::scheduling
