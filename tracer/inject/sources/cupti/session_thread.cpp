// What the session's own thread does: ask CUPTI for buffers, and look whose CUPTI is.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tracer/inject/core/tracer.h"
#include "tracer/inject/ring/wake.h"
#include "tracer/inject/sources/cupti/device_uuids.h"
#include "tracer/inject/sources/cupti/session.h"
#include "tracer/inject/writer/prepare.h"
#include "tracer/protocol/clock.h"

namespace lockstep::tracer::cupti {

namespace {

// Flushes in a row that brought no buffer, though each came after a heartbeat.
constexpr std::uint32_t kSilentFlushes = 4;
// Turns in a row in which PyTorch's profiler was not active.
constexpr std::uint32_t kQuietTurns = 3;
constexpr std::size_t kMaxGaps = 1024;

trace::Nanoseconds now() {
  return static_cast<trace::Nanoseconds>(read_monotonic());
}

}  // namespace

bool Session::start_thread() {
  // The new thread inherits that no signal handler of the program runs on it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  const bool blocked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const bool started = pthread_create(&thread, &attributes, thread_main, this) == 0;
  pthread_attr_destroy(&attributes);
  if (blocked) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) {
    problem_ = "a thread for CUPTI could not be started";
    disarm();
  }
  return started;
}

void* Session::thread_main(void* session) {
  prctl(PR_SET_NAME, "lockstep-cupti");
  auto* const self = static_cast<Session*>(session);
  try {
    self->run();
  } catch (...) {
    self->mode_.store(Mode::off, std::memory_order_release);
  }
  set_and_wake_all(self->exit_done_, 1);
  return nullptr;
}

void Session::run() {
  thread_.store(static_cast<std::uint32_t>(syscall(SYS_gettid)), std::memory_order_relaxed);
  own_pthread_.store(pthread_self(), std::memory_order_relaxed);
  driver_ = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver_ != nullptr) {
    driver_version_ = reinterpret_cast<int (*)(int*)>(dlsym(driver_, "cuDriverGetVersion"));
  }
  for (std::uint32_t number = 1;; ++number) {
    pool_.prepare_spares();
    start_recorder();
    wait_and_clear(wake_, kTurnMilliseconds);
    if (exit_requested_.load(std::memory_order_acquire) != 0) break;
    // The disk is full, or the file is gone: CUPTI should not work for nothing.
    if (!prepare()) {
      if (mode_.load(std::memory_order_relaxed) == Mode::armed) disarm();
      mode_.store(Mode::off, std::memory_order_release);
      return;
    }
    turn(number);
  }
  if (mode_.load(std::memory_order_relaxed) == Mode::armed) {
    start_recorder();
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    mode_.store(Mode::off, std::memory_order_release);
  }
}

// With the first buffer that CUPTI asks for the file begins: not in a process that only asks how many GPUs
// there are.
void Session::start_recorder() {
  if (started_ || (pool_.lent_count() == 0 && pool_.full_count() == 0)) return;
  started_ = Tracer::instance().ensure_started();
  if (!started_) return;
  std::vector<std::string> uuids = device_uuids(driver_);
  const std::lock_guard lock(mutex_);
  device_uuids_ = std::move(uuids);
}

void Session::turn(std::uint32_t number) {
  const trace::Nanoseconds time = now();
  const bool kineto = kineto_.is_active();
  if (mode_.load(std::memory_order_relaxed) == Mode::armed) {
    if (kineto) {
      yielded_to_kineto_ = true;
      yield("PyTorch's profiler had CUPTI", last_known_ours_);
      return;
    }
    if (number % kTurnsPerFlush != 0) return;
    leave_heartbeat();
    flush(0);
    check_ownership(time);
    return;
  }
  // Prepare, record and write are three states of one trace; between two traces of a schedule it is idle only
  // for a moment.
  quiet_turns_ = kineto ? 0 : quiet_turns_ + 1;
  if (quiet_turns_ < kQuietTurns) return;
  if (yielded_to_kineto_ || !settings_are_ours()) resume(time);
}

void Session::flush(std::uint32_t flag) {
  (void)api_.flush_all(flag);
  std::size_t dropped = 0;
  if (api_.get_dropped_records != nullptr &&
      api_.get_dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS) {
    // Not those that we made ourselves.
    dropped_.fetch_add(dropped - std::min(dropped, std::exchange(own_dropped_, 0)),
                       std::memory_order_relaxed);
  }
}

void Session::leave_heartbeat() {
  int version = 0;
  if (driver_version_ != nullptr && started_) (void)driver_version_(&version);
}

void Session::check_ownership(trace::Nanoseconds time) {
  const std::uint64_t seen = buffers_seen_.load(std::memory_order_relaxed);
  if (seen != std::exchange(buffers_seen_before_, seen)) {
    heartbeat_works_ = true;
    silent_flushes_ = 0;
    last_known_ours_ = time;
    return;
  }
  if (!settings_are_ours()) {
    // cuptiFinalize() by somebody who is not PyTorch's profiler: nobody has CUPTI now.
    yield("CUPTI was finalized", last_known_ours_);
    resume(time);
    return;
  }
  // Where a heartbeat never came back, its absence says nothing.
  if (heartbeat_works_ && ++silent_flushes_ >= kSilentFlushes) {
    yielded_to_kineto_ = false;
    yield("another tool had CUPTI", last_known_ours_);
  }
}

bool Session::settings_are_ours() const {
  if (api_.get_attribute == nullptr) return true;
  std::size_t limit = 0;
  std::size_t bytes = sizeof limit;
  if (api_.get_attribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &bytes, &limit) != CUPTI_SUCCESS)
    return true;
  return limit == kPoolLimit;
}

void Session::yield(const char* reason, trace::Nanoseconds since) {
  // Nothing is switched off: the kinds are on for whoever has CUPTI now, and nothing tells which are its own.
  quiet_turns_ = 0;
  {
    const std::lock_guard lock(mutex_);
    open_gap_ = Gap{since, 0, reason};
  }
  mode_.store(Mode::yielded, std::memory_order_release);
}

void Session::resume(trace::Nanoseconds time) {
  if (!arm()) {
    mode_.store(Mode::yielded, std::memory_order_release);
    quiet_turns_ = 0;
    return;
  }
  // What CUPTI still holds comes back now; buffers of ours that don't were brought back to the other tool.
  (void)api_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  (void)pool_.reclaim_before(generation_.load(std::memory_order_relaxed));
  silent_flushes_ = 0;
  yielded_to_kineto_ = false;
  const std::lock_guard lock(mutex_);
  open_gap_.end = time;
  if (gaps_.size() < kMaxGaps) gaps_.push_back(open_gap_);
  open_gap_ = Gap();
}

}  // namespace lockstep::tracer::cupti
