// A thread that reads meters ten times a second and hands the samples over without a lock.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "tracer/inject/sources/host/quantity.h"

namespace lockstep::tracer::host {

class Sampler {
 public:
  static constexpr std::uint32_t kIntervalMilliseconds = 100;
  static constexpr std::size_t kKept = 64;  // samples: more than six seconds in which nobody fetches them
  static constexpr std::uint32_t kStopMilliseconds = 300;

  // The meters must outlive the thread, and the process if the thread does not stop in time. The thread ends
  // by itself once `goes_on` says no: nobody tells a source that the recording has ended.
  explicit Sampler(std::vector<Meter*> meters, std::vector<std::size_t> counts,
                   bool (*goes_on)() noexcept = nullptr);

  // False if there can be no thread. All signals of the calling thread should be blocked: the new one
  // inherits that. Returns when the thread runs, so that a fork finds it in nobody's allocator.
  bool start() noexcept;
  // One more sample, and the thread ends. In bounded time; a meter that hangs is left alone.
  void stop() noexcept;
  // The oldest sample that was not fetched; false if there is none. One thread fetches.
  bool fetch(Sample& sample) noexcept;
  // Samples for which there was no room, so far.
  std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  static void* run_thread(void* sampler);
  void run() noexcept;
  void take_sample() noexcept;

  std::vector<Meter*> meters_;
  std::vector<std::size_t> counts_;  // quantities of each
  bool (*goes_on_)() noexcept;
  std::array<Sample, kKept> samples_;
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> fetched_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint32_t> begun_{0};
  std::atomic<std::uint32_t> wake_{0};
  std::atomic<std::uint32_t> stop_{0};
  std::atomic<std::uint32_t> stopped_{0};
};

}  // namespace lockstep::tracer::host
