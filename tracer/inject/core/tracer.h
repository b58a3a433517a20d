// The tracer's state in a process: who writes where, when the writer thread starts, and what happens around
// fork and exit.
//
// Never in the program's way: nothing here throws, prints, changes errno or signal dispositions, or waits
// longer than kExitWait at exit. Where something can't be had (a thread, a file, memory) recording stops and
// the program goes on.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "tracer/inject/ring/ring_pool.h"
#include "tracer/inject/ring/wake.h"
#include "tracer/protocol/clock.h"
#include "tracer/protocol/environment.h"

namespace lockstep::tracer {

// Of each thread: its ring, and whether it is inside the tracer. A signal handler that makes an NVTX call
// while its thread is inside the tracer must not touch the ring; its events are dropped and counted.
struct ThreadState {
  Ring* ring = nullptr;
  std::atomic<std::uint32_t> busy{0};
};
// Static thread-local storage: no allocation at first use, and async-signal-safe. 16 bytes, well within what
// the dynamic loader keeps for libraries that are loaded late.
#if defined(__GNUC__)
extern thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));
#endif

// Marks the thread as inside the tracer. Ask entered() before touching anything.
class Section {
 public:
  Section() noexcept : entered_(thread_state.busy.load(std::memory_order_relaxed) == 0) {
    if (entered_) [[likely]] {
      thread_state.busy.store(1, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  }
  ~Section() {
    if (entered_) [[likely]] {
      std::atomic_signal_fence(std::memory_order_seq_cst);
      thread_state.busy.store(0, std::memory_order_relaxed);
    }
  }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  bool entered() const noexcept { return entered_; }

 private:
  bool entered_;
};

// What the writer thread needs to know of its process.
struct ProcessInfo {
  JobIdentity job;
  bool is_helper = false;  // forked from a process of the same rank, which owns the rank's file
  std::string run_folder;
  std::string host;
  pid_t process = 0;
  TickSource ticks = TickSource::monotonic;
  ClockReading first_reading;
};

class Source;  // source.h
using SourceId = std::uint16_t;

class Tracer {
 public:
  static constexpr SourceId kMaxSources = 8;
  static constexpr SourceId kNoSource = 0xFFFF;
  static constexpr std::uint32_t kExitWaitMilliseconds = 2000;
  static constexpr std::uint32_t kForkWaitMilliseconds = 200;

  static Tracer& instance() noexcept;  // below; the hot path should not pay for a call

  // What is built on this class and it must call: given by prepare() (writer/prepare.h), so that nothing here
  // includes or links it.
  struct Parts {
    void (*prepare)();                     // once, before anything is recorded; may throw std::bad_alloc
    void* (*run_writer)(void* tracer);     // the writer thread, from its begin to its end
    void (*lock_before_fork)() noexcept;   // what the child must not inherit half changed
    void (*unlock_after_fork)() noexcept;  // in the parent
    void (*reset_after_fork)() noexcept;   // in the child; only async-signal-safe work
  };
  // Reads the environment (LOCKSTEP_RUN: the run folder; LOCKSTEP_BUFFER_SIZE: bytes of all rings together)
  // and makes the process ready. False if nothing is to be recorded. May be called often, with the same
  // `parts`, which live as long as the process.
  bool prepare(const Parts& parts) noexcept;

  // Makes the source known: the writer thread asks it from now on. The same number again for one that is
  // known; kNoSource if there is no room. The object must live as long as the process.
  SourceId add_source(Source& source) noexcept;
  // Starts the writer thread, and with it the file, if that has not happened: for sources whose events come
  // in buffers. False if nothing is recorded.
  bool ensure_started() noexcept;

  // The rank as the program itself knows it, for one that no launcher told in the environment. Before the
  // process records its first event; -1: not known.
  void suggest_rank(std::int32_t rank, std::int32_t world_size) noexcept {
    suggested_rank_.store(rank, std::memory_order_relaxed);
    suggested_world_size_.store(world_size, std::memory_order_relaxed);
  }

  // The calling thread's ring; nullptr if it can't have one, the event is then counted as dropped. The first
  // call of a process starts the writer thread.
  Ring* ring() noexcept {
    Ring* const ring = thread_state.ring;
    return ring != nullptr ? ring : first_event_of_thread();
  }
  TickSource ticks() const noexcept { return ticks_; }
  // An NVTX call from a signal handler that interrupted the tracer.
  void count_reentrant() noexcept;

  // An event in a domain beyond Ring::kMaxDomains.
  void count_refused() noexcept { refused_.fetch_add(1, std::memory_order_relaxed); }

  // Writes what is left and closes the file, in bounded time. Called when the process exits.
  void shut_down() noexcept;
  // Nothing more will be recorded, for instance because the disk is full.
  void turn_off() noexcept { state_.store(State::off, std::memory_order_release); }

  // --- for the writer thread ---
  // nullptr behind the last one.
  Source* source(SourceId id) const noexcept {
    return id < kMaxSources ? sources_[id].load(std::memory_order_acquire) : nullptr;
  }
  RingPool& pool() noexcept { return pool_; }
  std::atomic<std::uint32_t>& wake_word() noexcept { return wake_; }
  // Held by the writer thread whenever it doesn't sleep. A fork waits for it: a child must not inherit the
  // locks of an allocator in the middle of something, and not every allocator sees to that itself.
  PlainLock& work_lock() noexcept { return work_lock_; }
  bool stop_requested() const noexcept { return stop_.load(std::memory_order_acquire) != 0; }
  void confirm_stopped() noexcept;
  const ProcessInfo& process() const noexcept { return *process_; }
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
  std::uint64_t reentrant_without_ring() const noexcept {
    return reentrant_without_ring_.load(std::memory_order_relaxed);
  }

 private:
  enum class State : std::uint32_t { unprepared, idle, running, off };

  bool is_left_alone() noexcept;
  Ring* first_event_of_thread() noexcept;
  void start() noexcept;
  void start_or_throw();
  static void before_fork() noexcept;
  static void after_fork_in_parent() noexcept;
  static void after_fork_in_child() noexcept;

  std::atomic<State> state_{State::unprepared};
  const Parts* parts_ = nullptr;  // from prepare() on
  TickSource ticks_ = TickSource::monotonic;
  std::atomic<std::uint32_t> wake_{0};
  std::atomic<std::uint32_t> stop_{0};
  std::atomic<std::uint32_t> stopped_{0};
  PlainLock work_lock_;
  PlainLock prepare_lock_;  // NVTX and NCCL may begin at once, on two threads
  std::array<std::atomic<Source*>, kMaxSources> sources_{};
  std::atomic<std::int32_t> suggested_rank_{-1};
  std::atomic<std::int32_t> suggested_world_size_{-1};
  std::atomic<std::uint64_t> reentrant_without_ring_{0};
  std::atomic<std::uint64_t> refused_{0};
  // In a forked child: that its parent was recording, and the parent's rank.
  std::atomic<bool> forked_while_recording_{false};
  std::atomic<std::int32_t> parent_rank_{-1};
  std::atomic<pid_t> owner_{0};     // the process that the writer thread runs in
  ProcessInfo* process_ = nullptr;  // never freed: threads outlive everything
  RingPool pool_;
};

// All zeros at first and never destroyed: threads may still emit while and after the process' static objects
// are destroyed.
extern constinit Tracer the_tracer;
inline Tracer& Tracer::instance() noexcept {
  return the_tracer;
}

}  // namespace lockstep::tracer
