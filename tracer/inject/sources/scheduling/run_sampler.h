// The thread that looks at the training threads every few milliseconds, and hands what they did over without
// a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "tracer/inject/sources/scheduling/followed_threads.h"
#include "tracer/inject/sources/scheduling/run_profile.h"

namespace lockstep::tracer::scheduling {

class RunSampler {
 public:
  // Between two looks; more, where looking costs more than a four-hundredth of a core, up to
  // kLongestInterval.
  static constexpr std::uint32_t kInterval = 10;  // ms
  static constexpr std::uint32_t kLongestInterval = 80;
  static constexpr std::uint64_t kMaxCost = 400;  // 1 in so many
  static constexpr std::size_t kKept = 256;       // intervals that nobody has fetched
  static constexpr std::uint32_t kStopMilliseconds = 300;

  // The thread ends by itself once `goes_on` says no.
  explicit RunSampler(bool (*goes_on)() noexcept = nullptr) : goes_on_(goes_on) {}

  // False if there can be no thread. All signals of the calling thread should be blocked: the new one
  // inherits that.
  bool start() noexcept;
  // One more look, and the thread ends. In bounded time.
  void stop() noexcept;
  // Nobody wants to know now, or again. Any thread; does not wait.
  void pause() noexcept { paused_.store(1, std::memory_order_release); }
  void resume() noexcept;

  // The oldest interval that was not fetched; false if there is none. One thread fetches.
  bool fetch(RunInterval& interval) noexcept;
  // Whether the system tells when threads wait for a core; the sampler ends where it does not.
  bool can_read() const noexcept { return can_read_.load(std::memory_order_acquire); }
  const FollowedThreads& threads() const noexcept { return threads_; }

  // One look, for a test without the thread.
  void look(trace::Nanoseconds now) noexcept;
  void flush() noexcept;

 private:
  static void* run_thread(void* sampler);
  void run() noexcept;
  void hand_over(const RunInterval& interval) noexcept;
  void adapt(trace::Nanoseconds now) noexcept;

  bool (*goes_on_)() noexcept;
  FollowedThreads threads_;
  RunProfile profile_;
  IntervalMerger merger_;
  std::uint32_t interval_ = kInterval;
  std::uint32_t looks_ = 0;
  bool begun_ = false;       // there was a look before, and nothing in between
  bool nobody_ran_ = false;  // in the last interval
  trace::Nanoseconds adapted_at_ = 0;
  std::uint64_t cost_then_ = 0;
  std::array<RunInterval, kKept> kept_{};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> fetched_{0};
  std::atomic<bool> can_read_{true};
  std::atomic<std::uint32_t> paused_{0};
  std::atomic<std::uint32_t> running_{0};
  std::atomic<std::uint32_t> wake_{0};
  std::atomic<std::uint32_t> stop_{0};
  std::atomic<std::uint32_t> stopped_{0};
};

}  // namespace lockstep::tracer::scheduling
