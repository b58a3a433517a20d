#include "tracer/inject/sources/cupti/session.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "tracer/inject/core/tracer.h"
#include "tracer/inject/ring/wake.h"
#include "tracer/inject/sources/cupti/activity_events.h"
#include "tracer/protocol/clock.h"

namespace lockstep::tracer::cupti {

namespace {

// With this many buffers waiting, the writer thread should not sleep on.
constexpr std::size_t kFullToWake = 8;

constexpr std::array kKinds{
    CUPTI_ACTIVITY_KIND_CONTEXT,  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,   CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,   CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
    CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_CUDA_EVENT,
};

std::uint64_t budget() {
  const char* const text = std::getenv("LOCKSTEP_CUPTI_BUFFERS");
  if (text == nullptr) return BufferPool::kDefaultBudget;
  return parse_number<std::uint64_t>(text, 1).value_or(BufferPool::kDefaultBudget);
}

void flush_at_exit() {
  Session::instance().flush_for_exit();
}

}  // namespace

Session& Session::instance() noexcept {
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): a process without these few bytes ends anyway
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
  if (api_.version >= kMayTurnDownRequests) {
    const auto own = own_pthread_.load(std::memory_order_relaxed);
    if (own != 0 && pthread_equal(own, pthread_self()) != 0) ++own_dropped_;
    return {};
  }
  // An older one may crash. The oldest records that nobody has read yet are given up for new ones.
  if (const std::optional<BufferPool::Full> oldest = pool_.take_full()) {
    discarded_.fetch_add(ActivityEvents::count(api_, oldest->data, oldest->valid_bytes, own_thread()),
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
  if (session.pool_.full_count() >= kFullToWake) wake(Tracer::instance().wake_word());
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
  last_known_ours_ = static_cast<trace::Nanoseconds>(read_monotonic());
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

// --- what others ask ---

std::string Session::problem() {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::vector<std::string> Session::take_device_uuids() {
  const std::lock_guard lock(mutex_);
  return std::exchange(device_uuids_, {});
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
