#include "tracer/sources/cupti/session.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "tracer/clock.h"
#include "tracer/recorder.h"
#include "tracer/sources/cupti/activity_events.h"
#include "tracer/wake.h"

namespace lockstep::tracer::cupti {

namespace {

// With this many buffers waiting, the writer thread should not sleep on.
constexpr std::size_t kFullToWake = 8;
// Flushes in a row that brought no buffer, though each came after a heartbeat.
constexpr std::uint32_t kSilentFlushes = 4;
// Turns in a row in which PyTorch's profiler was not active.
constexpr std::uint32_t kQuietTurns = 3;
constexpr std::size_t kMostGaps = 1024;
constexpr std::size_t kPoolLimit = 251;

constexpr std::array kKinds{
    CUPTI_ACTIVITY_KIND_CONTEXT,  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,   CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,   CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
    CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_CUDA_EVENT,
};

std::uint64_t budget() {
  const char* const text = std::getenv("LOCKSTEP_CUPTI_BUFFERS");
  if (text == nullptr) return BufferPool::kDefaultBudget;
  const std::string_view view(text);
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), bytes);
  if (error != std::errc{} || end != view.data() + view.size() || bytes == 0)
    return BufferPool::kDefaultBudget;
  return bytes;
}

trace::Nanoseconds now() {
  return static_cast<trace::Nanoseconds>(read_monotonic());
}

void flush_at_exit() {
  Session::instance().flush_for_exit();
}

}  // namespace

Session& Session::instance() noexcept {
  static auto* const session = new Session;
  return *session;
}

// --- on CUPTI's and the program's threads ---

void Session::request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  const BufferPool::Lent lent = instance().lend();
  *buffer = lent.data;
  *bytes = lent.bytes;
  *most_records = 0;  // as many as fit
}

BufferPool::Lent Session::lend() noexcept {
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (const BufferPool::Lent lent = pool_.lend(generation)) return lent;
  // Turned down, CUPTI drops records and counts them.
  if (api_.version >= kMayTurnDownRequests) return {};
  // An older one may crash. The oldest records that nobody has read yet are given up for new ones.
  if (const std::optional<BufferPool::Full> oldest = pool_.take_full()) {
    discarded_.fetch_add(ActivityEvents::count(api_, oldest->data, oldest->valid_bytes),
                         std::memory_order_relaxed);
    return pool_.lend_again(*oldest, generation);
  }
  return pool_.lend_reserve(generation);
}

void Session::take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  Session& session = instance();
  // Somebody else's, who had the callbacks before us, is left alone.
  if (!session.pool_.bring_back(buffer, valid_bytes)) return;
  session.buffers_seen_.fetch_add(1, std::memory_order_relaxed);
  if (session.pool_.full_count() >= kFullToWake) wake(Recorder::instance().wake_word());
}

std::uint64_t Session::read_timestamp() {
  // CUPTI wants nanoseconds; it fits the GPU's clock to whatever comes from here.
  return read_monotonic();
}

// --- the beginning ---

bool Session::start(bool all_calls) {
  if (mode_.load(std::memory_order_acquire) != Mode::idle) {
    return mode_.load(std::memory_order_acquire) == Mode::armed;
  }
  all_calls_ = all_calls;
  process_.store(getpid(), std::memory_order_relaxed);
  if (!pool_.reserve(budget())) {
    problem_ = "there is no memory for CUPTI's buffers";
    return false;
  }
  if (!load() || !start_thread()) {
    mode_.store(Mode::off, std::memory_order_release);
    return false;
  }
  // Handlers run in the opposite order: before those that CUPTI and the driver have left.
  (void)std::atexit(flush_at_exit);
  return true;
}

bool Session::load() {
  std::string problems;
  bool found = false;
  for (const std::string& candidate : library_candidates(std::getenv("LOCKSTEP_CUPTI"), loaded_libraries())) {
    std::string reason;
    if (load_api(candidate, api_, reason)) {
      selection_.read(api_);
      problem_.clear();
      if (arm()) return true;
      reason = api_.library + ": " + problem_;
    }
    // The loader's own words are of interest only if nothing at all was found. A copy that is no good for
    // this driver is passed over.
    const bool is_there = api_.enable != nullptr;
    if ((is_there && !found) || problems.empty()) problems = reason;
    found = found || is_there;
    api_ = Api();
  }
  problem_ = problems;
  return false;
}

bool Session::arm() {
  generation_.fetch_add(1, std::memory_order_relaxed);
  // System thread ids: those that NVTX ranges have.
  if (api_.set_thread_id_type != nullptr) (void)api_.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (api_.set_attribute != nullptr) {
    // Of no effect (the default is 250), but it tells whether CUPTI still is as we left it. That buffers come
    // zeroed, which would save CUPTI some work, is not said: it would hold for a neighbour's buffers too.
    std::size_t limit = kPoolLimit;
    std::size_t bytes = sizeof limit;
    (void)api_.set_attribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &bytes, &limit);
  }
  CUptiResult result = api_.register_timestamp_callback(read_timestamp);
  if (result == CUPTI_SUCCESS) result = api_.register_callbacks(request_buffer, take_buffer);
  if (result != CUPTI_SUCCESS) {
    const std::lock_guard lock(mutex_);
    problem_ = "CUPTI can't be used: " + api_.describe(result);
    return false;
  }
  if (!enable_kinds()) return false;
  enable_calls();
  mode_.store(Mode::armed, std::memory_order_release);
  last_known_ours_ = now();
  return true;
}

bool Session::enable_kinds() {
  std::string refused;
  bool any = false;
  for (const CUpti_ActivityKind kind : kKinds) {
    const CUptiResult result = api_.enable(kind);
    if (result == CUPTI_SUCCESS) {
      any = true;
    } else {
      refused += (refused.empty() ? "" : ", ") + std::to_string(static_cast<int>(kind)) + " (" +
                 api_.describe(result) + ")";
    }
  }
  const std::lock_guard lock(mutex_);
  problem_ = refused.empty() ? "" : "CUPTI does not record activities of the kinds " + refused;
  return any;
}

void Session::enable_calls() {
  // Querying an event or a stream counts as synchronization, and NCCL's watchdog does nothing else.
  if (api_.enable_all_sync_records != nullptr) (void)api_.enable_all_sync_records(0);
  bool one_by_one = !all_calls_ && api_.enable_runtime_api != nullptr && api_.enable_driver_api != nullptr;
  if (one_by_one) {
    std::size_t enabled = 0;
    for (const std::uint32_t call : selection_.all_selected(CUPTI_ACTIVITY_KIND_RUNTIME)) {
      if (api_.enable_runtime_api(call, 1) == CUPTI_SUCCESS) ++enabled;
    }
    for (const std::uint32_t call : selection_.all_selected(CUPTI_ACTIVITY_KIND_DRIVER)) {
      if (api_.enable_driver_api(call, 1) == CUPTI_SUCCESS) ++enabled;
    }
    one_by_one = enabled != 0;
  }
  if (!one_by_one) {  // CUDA before 12.5 has all or nothing
    (void)api_.enable(CUPTI_ACTIVITY_KIND_RUNTIME);
    (void)api_.enable(CUPTI_ACTIVITY_KIND_DRIVER);
    return;
  }
  (void)api_.enable_driver_api(CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion, 1);  // the heartbeat
}

void Session::disarm() {
  for (const CUpti_ActivityKind kind : kKinds) (void)api_.disable(kind);
  (void)api_.disable(CUPTI_ACTIVITY_KIND_RUNTIME);
  (void)api_.disable(CUPTI_ACTIVITY_KIND_DRIVER);
}

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

// --- the session's thread ---

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
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver != nullptr) {
    driver_version_ = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  }
  for (std::uint32_t number = 1;; ++number) {
    pool_.prepare_spares();
    start_recorder();
    wait_and_clear(wake_, kTurnMilliseconds);
    if (exit_requested_.load(std::memory_order_acquire) != 0) break;
    // The disk is full, or the file is gone: CUPTI should not work for nothing.
    if (!Recorder::instance().prepare()) {
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
  started_ = Recorder::instance().ensure_started();
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
    dropped_.fetch_add(dropped, std::memory_order_relaxed);
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
  if (gaps_.size() < kMostGaps) gaps_.push_back(open_gap_);
  open_gap_ = Gap();
}

// --- what others ask ---

std::string Session::problem() {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::vector<Gap> Session::take_gaps(bool at_end, trace::Nanoseconds time) {
  const std::lock_guard lock(mutex_);
  std::vector<Gap> gaps = std::exchange(gaps_, {});
  if (at_end && !open_gap_.reason.empty()) {
    gaps.push_back({open_gap_.begin, std::max(time, open_gap_.begin), open_gap_.reason});
    open_gap_ = Gap();
  }
  return gaps;
}

void Session::flush_for_exit() noexcept {
  const Mode mode = mode_.load(std::memory_order_acquire);
  if ((mode != Mode::armed && mode != Mode::yielded) || process_.load() != getpid()) return;
  if (exit_requested_.exchange(1, std::memory_order_acq_rel) != 0) return;  // once is long enough
  const int saved = errno;
  wake(wake_);
  wait_until(exit_done_, 1, kExitWaitMilliseconds);
  errno = saved;
}

}  // namespace lockstep::tracer::cupti
