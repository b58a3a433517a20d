// Our use of CUPTI: which kinds of records are on, who gets the buffers, when they are asked for.
//
// Two kinds of threads come here. CUPTI calls for buffers and brings them back on any thread: no lock, no
// allocation there. Everything else is done by a thread of the session's own ("lockstep-cupti"), because a
// call into CUPTI may take as long as the driver likes, for ever if the GPU is gone: neither the writer
// thread nor the end of the process may wait for that.
//
// Only the activity API is used, and no subscription held: a process has one subscriber, and PyTorch's
// profiler wants to be it. That profiler takes the buffer callbacks over when it starts: then the session
// yields until the profiler is done, and the time between is a gap in the recording.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "trace/events/event.h"
#include "tracer/inject/sources/cupti/api_selection.h"
#include "tracer/inject/sources/cupti/buffer_pool.h"
#include "tracer/inject/sources/cupti/cupti_api.h"
#include "tracer/inject/sources/cupti/neighbours.h"

namespace lockstep::tracer::cupti {

// A time in which somebody else had CUPTI: what the GPU did then is not known.
struct Gap {
  trace::Nanoseconds begin = 0;
  trace::Nanoseconds end = 0;
  std::string reason;
};

class Session {
 public:
  // How often the thread looks whether CUPTI is still ours.
  static constexpr std::uint32_t kTurnMilliseconds = 100;
  // Every so many turns CUPTI is asked for buffers whose records are complete, full or not: what a process
  // that is killed loses. Its own worker passes on only full ones.
  static constexpr std::uint32_t kTurnsPerFlush = 5;
  // How long the end of the process waits for CUPTI's last records.
  static constexpr std::uint32_t kExitWaitMilliseconds = 1000;

  // The session of this process; never destroyed.
  static Session& instance() noexcept;

  // Called by the driver from cuInit: everything is on when the program gets to launch something. May throw
  // std::bad_alloc. `problem()` says what could not be had.
  bool start(bool all_calls);

  // --- the writer thread ---
  BufferPool& pool() noexcept { return pool_; }
  const Api& api() const noexcept { return api_; }
  const ApiSelection& selection() const noexcept { return selection_; }
  bool all_calls() const noexcept { return all_calls_; }
  std::uint32_t own_thread() const noexcept { return thread_.load(std::memory_order_relaxed); }
  std::string problem();
  bool has_yielded() const noexcept { return mode_.load(std::memory_order_acquire) == Mode::yielded; }
  // Those that ended since the last call; at the end of the process also one that has not, up to `now`.
  std::vector<Gap> take_gaps(bool at_end, trace::Nanoseconds now);
  // Of the process's devices, once they are known: empty before and in later calls.
  std::vector<std::string> take_device_uuids();
  // Records that were lost since the last call: in CUPTI, for want of a buffer, and in buffers used again.
  std::uint64_t take_dropped() noexcept { return dropped_.exchange(0, std::memory_order_relaxed); }
  std::uint64_t take_discarded() noexcept { return discarded_.exchange(0, std::memory_order_relaxed); }

  // --- around the end ---
  // Asks CUPTI for all it has, in bounded time. Later calls do nothing.
  void flush_for_exit() noexcept;
  // In a forked child, which can't use CUDA: no CUPTI function is called there ever again.
  void after_fork_in_child() noexcept { mode_.store(Mode::forked, std::memory_order_release); }

 private:
  // CUPTI's limit of device buffers as it is set: not its default, 250.
  static constexpr std::size_t kPoolLimit = 251;
  // `yielded`: somebody else has CUPTI. `off`: nothing is recorded any more.
  enum class Mode : std::uint32_t { idle, armed, yielded, off, forked };

  static void CUPTIAPI request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
  static void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                   std::size_t bytes, std::size_t valid_bytes);
  static std::uint64_t CUPTIAPI read_timestamp();
  static void* thread_main(void* session);

  BufferPool::Lent lend() noexcept;
  bool load();
  bool arm();
  bool enable_kinds();
  void enable_calls();
  void disarm();
  bool start_thread();

  // The session's own thread.
  void run();
  void start_recorder();
  void turn(std::uint32_t number);
  void check_ownership(trace::Nanoseconds now);
  void flush(std::uint32_t flag);
  void yield(const char* reason, trace::Nanoseconds since);
  void resume(trace::Nanoseconds now);
  // A record that must come back with the next flush if buffers still come to us.
  void leave_heartbeat();
  // CUPTI's settings are still those that were made: it was not finalized.
  bool settings_are_ours() const;

  Api api_;
  ApiSelection selection_;
  BufferPool pool_;
  KinetoProbe kineto_;
  bool all_calls_ = false;
  std::atomic<Mode> mode_{Mode::idle};
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<std::uint32_t> thread_{0};
  std::atomic<pid_t> process_{0};
  std::atomic<std::uint64_t> buffers_seen_{0};  // that came back to us
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> discarded_{0};
  std::atomic<std::uint32_t> wake_{0};
  std::atomic<std::uint32_t> exit_requested_{0};
  std::atomic<std::uint32_t> exit_done_{0};

  // Of the thread alone.
  std::atomic<pthread_t> own_pthread_{0};  // itself
  std::size_t own_dropped_ = 0;            // heartbeats for which there was no buffer
  void* driver_ = nullptr;
  int (*driver_version_)(int*) = nullptr;
  std::uint64_t buffers_seen_before_ = 0;
  std::uint32_t silent_flushes_ = 0;
  std::uint32_t quiet_turns_ = 0;
  bool started_ = false;  // the tracer
  bool heartbeat_works_ = false;
  bool yielded_to_kineto_ = false;
  trace::Nanoseconds last_known_ours_ = 0;

  std::mutex mutex_;  // of what follows; never held while CUPTI is called
  std::string problem_;
  std::vector<Gap> gaps_;
  Gap open_gap_;
  std::vector<std::string> device_uuids_;
};

}  // namespace lockstep::tracer::cupti
