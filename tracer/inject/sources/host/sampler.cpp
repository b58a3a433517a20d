#include "tracer/inject/sources/host/sampler.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <utility>

#include "tracer/inject/ring/wake.h"
#include "tracer/protocol/clock.h"

namespace lockstep::tracer::host {

namespace {

// Enough for NVML; the default is as much as the program's own threads get, which may be a lot.
constexpr std::size_t kStackBytes = std::size_t{1} << 20U;
constexpr std::uint32_t kStartMilliseconds = 200;

}  // namespace

Sampler::Sampler(std::vector<Meter*> meters, std::vector<std::size_t> counts, bool (*goes_on)() noexcept)
    : meters_(std::move(meters)), counts_(std::move(counts)), goes_on_(goes_on) {}

bool Sampler::start() noexcept {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  const bool started = pthread_create(&thread, &attributes, run_thread, this) == 0;
  pthread_attr_destroy(&attributes);
  if (started) wait_until(begun_, 1, kStartMilliseconds);
  return started;
}

void* Sampler::run_thread(void* sampler) {
  prctl(PR_SET_NAME, "lockstep host");
  static_cast<Sampler*>(sampler)->run();
  return nullptr;
}

void Sampler::run() noexcept {
  set_and_wake_all(begun_, 1);
  std::uint64_t next = read_monotonic();
  while (true) {
    take_sample();
    if (stop_.load(std::memory_order_acquire) != 0) break;
    if (goes_on_ != nullptr && !goes_on_()) break;
    // In step with the clock, not with how long a sample takes; what was slept through is not made up for.
    next += std::uint64_t{kIntervalMilliseconds} * 1'000'000U;
    const std::uint64_t now = read_monotonic();
    if (next <= now) next = now;
    wait_and_clear(wake_, static_cast<std::uint32_t>((next - now) / 1'000'000U));
  }
  set_and_wake_all(stopped_, 1);
}

void Sampler::take_sample() noexcept {
  const std::uint64_t written = written_.load(std::memory_order_relaxed);
  if (written - fetched_.load(std::memory_order_acquire) >= kKept) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Sample& sample = samples_[written % kKept];
  sample.readings = {};
  sample.time = static_cast<trace::Nanoseconds>(read_monotonic());
  std::size_t at = 0;
  for (std::size_t i = 0; i < meters_.size(); ++i) {
    meters_[i]->read(&sample.readings[at]);
    at += counts_[i];
  }
  written_.store(written + 1, std::memory_order_release);
}

void Sampler::stop() noexcept {
  stop_.store(1, std::memory_order_release);
  wake(wake_);
  wait_until(stopped_, 1, kStopMilliseconds);
}

bool Sampler::fetch(Sample& sample) noexcept {
  const std::uint64_t fetched = fetched_.load(std::memory_order_relaxed);
  if (fetched == written_.load(std::memory_order_acquire)) return false;
  sample = samples_[fetched % kKept];
  fetched_.store(fetched + 1, std::memory_order_release);
  return true;
}

}  // namespace lockstep::tracer::host
