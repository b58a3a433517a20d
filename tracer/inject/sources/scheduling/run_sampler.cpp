#include "tracer/inject/sources/scheduling/run_sampler.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

#include "tracer/inject/ring/wake.h"
#include "tracer/inject/sources/scheduling/thread_times.h"
#include "tracer/protocol/clock.h"

namespace lockstep::tracer::scheduling {

namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 20U;
constexpr std::uint32_t kStartMilliseconds = 200;
constexpr std::uint32_t kPausedMilliseconds = 1000;
constexpr std::uint32_t kLooksAListing = 16;
constexpr std::uint32_t kLooksAnAdaption = 64;
constexpr std::uint64_t kMillisecond = 1'000'000;

trace::Nanoseconds now_ns() {
  return static_cast<trace::Nanoseconds>(read_monotonic());
}

std::uint64_t own_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

bool RunSampler::start() noexcept {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  const bool started = pthread_create(&thread, &attributes, run_thread, this) == 0;
  pthread_attr_destroy(&attributes);
  // A fork should find it in nobody's allocator.
  if (started) wait_until(running_, 1, kStartMilliseconds);
  return started;
}

void* RunSampler::run_thread(void* sampler) {
  prctl(PR_SET_NAME, "lockstep cores");
  static_cast<RunSampler*>(sampler)->run();
  return nullptr;
}

void RunSampler::run() noexcept {
  set_and_wake_all(running_, 1);
  std::uint64_t next = read_monotonic();
  while (can_read()) {
    const bool stopping = stop_.load(std::memory_order_acquire) != 0;
    const bool paused = paused_.load(std::memory_order_acquire) != 0;
    if (!paused || stopping) look(now_ns());
    if (stopping || (goes_on_ != nullptr && !goes_on_())) break;
    if (paused) {
      flush();
      wait_and_clear(wake_, kPausedMilliseconds);
      next = read_monotonic();
      continue;
    }
    adapt(now_ns());
    next += interval_ * kMillisecond;
    const std::uint64_t now = read_monotonic();
    if (next <= now) next = now + kMillisecond;  // what was slept through is not made up for
    wait_and_clear(wake_, static_cast<std::uint32_t>((next - now + kMillisecond - 1) / kMillisecond));
  }
  flush();
  set_and_wake_all(stopped_, 1);
}

void RunSampler::look(trace::Nanoseconds now) noexcept {
  const bool list = looks_++ % kLooksAListing == 0;
  if (!begun_) {
    profile_.begin(now);
    threads_.update(profile_, now, list);
    for (std::size_t slot = 0; slot < threads_.slots(); ++slot) {
      const std::uint32_t thread = threads_.in_slot(slot);
      const host::Amount ran = thread != 0 ? read_on_cpu(thread) : std::nullopt;
      const host::Amount waited = thread != 0 ? read_waited(thread) : std::nullopt;
      if (ran.has_value() && waited.has_value()) profile_.follow(slot, *ran, *waited, std::nullopt);
    }
    begun_ = threads_.slots() > 0;
    if (!threads_.can_read()) can_read_.store(false, std::memory_order_release);
    return;
  }
  if (!profile_.begin_interval(now)) return;
  bool any = false;
  for (std::size_t slot = 0; slot < threads_.slots(); ++slot) {
    const std::uint32_t thread = threads_.in_slot(slot);
    if (thread == 0) continue;
    const host::Amount ran = read_on_cpu(thread);
    if (!ran.has_value()) {
      threads_.leave(slot);
      continue;
    }
    any = profile_.ran(slot, *ran) || any;
    if (!profile_.should_ask(slot)) continue;
    if (const host::Amount waited = read_waited(thread)) profile_.waited(slot, *waited);
  }
  // Where nobody ran, somebody may have that is not known yet.
  threads_.update(profile_, now, list || (!any && !nobody_ran_));
  nobody_ran_ = !any;
  if (!threads_.can_read()) can_read_.store(false, std::memory_order_release);
  while (const std::optional<RunInterval> interval = profile_.take(false)) {
    if (const auto joined = merger_.add(*interval)) hand_over(*joined);
  }
}

void RunSampler::flush() noexcept {
  for (std::size_t slot = 0; begun_ && slot < threads_.slots(); ++slot) {
    const std::uint32_t thread = threads_.in_slot(slot);
    const host::Amount waited = thread != 0 ? read_waited(thread) : std::nullopt;
    if (waited.has_value()) profile_.waited(slot, *waited);
  }
  while (const std::optional<RunInterval> interval = profile_.take(true)) {
    if (const auto joined = merger_.add(*interval)) hand_over(*joined);
  }
  if (const auto last = merger_.finish()) hand_over(*last);
  begun_ = false;
}

void RunSampler::hand_over(const RunInterval& interval) noexcept {
  const std::uint64_t written = written_.load(std::memory_order_relaxed);
  // Without room it is left out: the next one does not begin where the last one ended, which says so.
  if (written - fetched_.load(std::memory_order_acquire) >= kKept) return;
  kept_[written % kKept] = interval;
  written_.store(written + 1, std::memory_order_release);
}

// Looks less often where it costs too much, and more often again where it does not.
void RunSampler::adapt(trace::Nanoseconds now) noexcept {
  if (looks_ % kLooksAnAdaption != 0) return;
  const std::uint64_t cost = own_time();
  const auto passed = static_cast<std::uint64_t>(now - adapted_at_);
  if (adapted_at_ != 0) {
    const std::uint64_t spent = (cost - cost_then_) * kMaxCost;
    if (spent > passed) interval_ = std::min(interval_ * 2, kLongestInterval);
    if (spent < passed / 3) interval_ = std::max(interval_ / 2, kInterval);
  }
  adapted_at_ = now;
  cost_then_ = cost;
}

void RunSampler::resume() noexcept {
  if (paused_.exchange(0, std::memory_order_acq_rel) != 0) wake(wake_);
}

void RunSampler::stop() noexcept {
  stop_.store(1, std::memory_order_release);
  wake(wake_);
  wait_until(stopped_, 1, kStopMilliseconds);
}

bool RunSampler::fetch(RunInterval& interval) noexcept {
  const std::uint64_t fetched = fetched_.load(std::memory_order_relaxed);
  if (fetched == written_.load(std::memory_order_acquire)) return false;
  interval = kept_[fetched % kKept];
  fetched_.store(fetched + 1, std::memory_order_release);
  return true;
}

}  // namespace lockstep::tracer::scheduling
