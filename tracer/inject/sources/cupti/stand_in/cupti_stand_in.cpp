// The stand-in libcupti. STAND_IN_VERSION is what it says it is; one of before CUDA 12.5 (24) lacks the later
// functions.
//
// As the real one it calls for buffers and brings them back under a lock of its own, asks a thread's first
// record for a buffer, and passes one on when it is full and all its records are complete. A callback that
// calls back into it hangs, as with the real one.
#include <cupti.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tracer/inject/sources/cupti/stand_in/control.h"
#include "tracer/inject/sources/cupti/stand_in/records.h"

// The header declares its functions with default visibility only for CUPTI itself.
#pragma GCC visibility push(default)

namespace {

using lockstep::tracer::cupti::stand_in::record_bytes;

constexpr std::size_t kDefaultPoolLimit = 250;

std::uint64_t realtime() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  std::size_t used = 0;
  std::size_t running = 0;  // kernels that have not finished
  int owner = 0;            // thread
};

struct State {
  std::mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::atomic<CUpti_TimestampCallbackFunc> timestamp{realtime};
  std::set<int> kinds;
  std::set<std::uint32_t> runtime_calls;
  std::set<std::uint32_t> driver_calls;
  std::map<int, Buffer> current;  // by thread
  std::vector<Buffer> waiting;    // full, but not complete, or held back
  std::size_t dropped = 0;
  std::size_t pool_limit = kDefaultPoolLimit;
  std::uint32_t correlation = 0;
  bool held = false;
  std::atomic<bool> hangs{false};
  std::uint64_t flushes = 0;
  std::atomic<std::uint64_t> foreign_calls{0};
  pid_t process = getpid();
};

State& state() {
  static auto* const the_state = new State;
  return *the_state;
}

int this_thread() {
  return static_cast<int>(gettid());
}

// A call in a forked child: nothing may happen there.
bool is_elsewhere() {
  if (state().process == getpid()) return false;
  ++state().foreign_calls;
  return true;
}

void pass_on(State& state, const Buffer& buffer) {
  if (state.complete != nullptr) state.complete(nullptr, 0, buffer.data, buffer.bytes, buffer.used);
}

// Those that need not wait any longer; the others stay, in order.
void pass_on_complete(State& state, bool forced) {
  if (state.held && !forced) return;
  std::vector<Buffer> left;
  for (const Buffer& buffer : std::exchange(state.waiting, {})) {
    if (buffer.running == 0 || forced) {
      pass_on(state, buffer);
    } else {
      left.push_back(buffer);
    }
  }
  state.waiting.insert(state.waiting.begin(), left.begin(), left.end());
}

bool is_enabled(const State& state, const CUpti_Activity* record) {
  if (state.kinds.contains(record->kind)) return true;
  const auto* const call = reinterpret_cast<const CUpti_ActivityAPI*>(record);
  if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) return state.runtime_calls.contains(call->cbid);
  if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER) return state.driver_calls.contains(call->cbid);
  return false;
}

int add_record(const void* data, bool running) {
  State& here = state();
  const std::lock_guard lock(here.mutex);
  const auto* const record = static_cast<const CUpti_Activity*>(data);
  std::size_t bytes = record_bytes(record->kind, STAND_IN_VERSION);
  const bool is_known = bytes != 0;
  if (!is_known) bytes = 64;
  if (here.complete == nullptr || (is_known && !is_enabled(here, record))) return 0;
  Buffer& buffer = here.current[this_thread()];
  if (buffer.data != nullptr && buffer.used + bytes > buffer.bytes) {
    here.waiting.push_back(std::exchange(buffer, {}));
    pass_on_complete(here, false);
  }
  if (buffer.data == nullptr) {
    std::size_t most = 0;
    here.request(&buffer.data, &buffer.bytes, &most);
    if (buffer.data == nullptr || buffer.bytes < bytes) {
      buffer = {};
      ++here.dropped;
      return -1;
    }
    std::memset(buffer.data, 0, buffer.bytes);
  }
  std::memcpy(buffer.data + buffer.used, data, is_known ? bytes : sizeof(CUpti_Activity));
  buffer.used += bytes;
  if (running) ++buffer.running;
  return 1;
}

bool finish_in(Buffer& buffer, std::uint32_t correlation, std::uint64_t start, std::uint64_t end) {
  for (std::size_t at = 0; at < buffer.used;) {
    auto* const record = reinterpret_cast<CUpti_ActivityKernel5*>(buffer.data + at);
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && record->correlationId == correlation &&
        record->end == 0) {
      record->start = start;
      record->end = end;
      --buffer.running;
      return true;
    }
    at += record_bytes(record->kind, STAND_IN_VERSION);
  }
  return false;
}

}  // namespace

extern "C" {

int stand_in_record(const void* record) {
  return add_record(record, false);
}
int stand_in_begin(const void* record) {
  return add_record(record, true);
}
void stand_in_finish(std::uint32_t correlation, std::uint64_t start, std::uint64_t end) {
  State& here = state();
  const std::lock_guard lock(here.mutex);
  for (auto& [thread, buffer] : here.current) {
    if (finish_in(buffer, correlation, start, end)) return;
  }
  for (Buffer& buffer : here.waiting) {
    if (finish_in(buffer, correlation, start, end)) break;
  }
  pass_on_complete(here, false);
}
std::uint64_t stand_in_now() {
  return state().timestamp.load()();
}
std::uint32_t stand_in_next_correlation() {
  const std::lock_guard lock(state().mutex);
  return ++state().correlation;
}
void stand_in_hold() {
  const std::lock_guard lock(state().mutex);
  state().held = true;
}
void stand_in_release(int reversed) {
  const std::lock_guard lock(state().mutex);
  state().held = false;
  if (reversed != 0) std::reverse(state().waiting.begin(), state().waiting.end());
  pass_on_complete(state(), false);
}
void stand_in_hang() {
  const std::lock_guard lock(state().mutex);
  state().hangs = true;
}
std::uint64_t stand_in_flushes() {
  const std::lock_guard lock(state().mutex);
  return state().flushes;
}
const void* stand_in_callbacks() {
  const std::lock_guard lock(state().mutex);
  return reinterpret_cast<const void*>(state().request);
}
std::uint64_t stand_in_calls_in_other_processes() {
  return state().foreign_calls;
}

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  *version = STAND_IN_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_NOT_INITIALIZED ? "CUPTI_ERROR_NOT_INITIALIZED" : "CUPTI_ERROR";
  return CUPTI_SUCCESS;
}

// A few calls, under their real numbers.
CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t call, const char** name) {
  static const std::map<std::uint32_t, const char*> kRuntime{
      {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel_v7000"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, "cudaMemcpyAsync_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, "cudaMemsetAsync_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, "cudaGraphLaunch_v10000"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "cudaDeviceSynchronize_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, "cudaGetDevice_v3020"}};
  static const std::map<std::uint32_t, const char*> kDriver{
      {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
      {CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion, "cuDriverGetVersion"},
      {CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent, "cuCtxGetCurrent"}};
  const auto& names = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? kRuntime : kDriver;
  const auto found = names.find(call);
  if (found == names.end()) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = found->second;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete) {
  if (is_elsewhere()) return CUPTI_ERROR_UNKNOWN;
  const std::lock_guard lock(state().mutex);
  state().request = request;
  state().complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp) {
  if (is_elsewhere()) return CUPTI_ERROR_UNKNOWN;
  const std::lock_guard lock(state().mutex);
  state().timestamp = timestamp;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (is_elsewhere()) return CUPTI_ERROR_UNKNOWN;
#ifdef STAND_IN_WITHOUT_DRIVER
  return CUPTI_ERROR_NOT_INITIALIZED;
#endif
  const std::lock_guard lock(state().mutex);
  state().kinds.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  if (is_elsewhere()) return CUPTI_ERROR_UNKNOWN;
  const std::lock_guard lock(state().mutex);
  state().kinds.erase(kind);
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) state().runtime_calls.clear();
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) state().driver_calls.clear();
  return CUPTI_SUCCESS;
}

#if STAND_IN_VERSION >= 24
CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId call, uint8_t enable) {
  if (is_elsewhere()) return CUPTI_ERROR_UNKNOWN;
  const std::lock_guard lock(state().mutex);
  if (enable != 0) state().runtime_calls.insert(call);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId call, uint8_t enable) {
  if (is_elsewhere()) return CUPTI_ERROR_UNKNOWN;
  const std::lock_guard lock(state().mutex);
  if (enable != 0) state().driver_calls.insert(call);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableAllSyncRecords(uint8_t) {
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType) {
  return CUPTI_SUCCESS;
}
#endif

CUptiResult CUPTIAPI cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, size_t* bytes,
                                               void* value) {
  if (attribute != CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT || *bytes < sizeof(std::size_t)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const std::lock_guard lock(state().mutex);
  std::memcpy(value, &state().pool_limit, sizeof(std::size_t));
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t* bytes,
                                               void* value) {
  if (attribute != CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT || *bytes < sizeof(std::size_t)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const std::lock_guard lock(state().mutex);
  std::memcpy(&state().pool_limit, value, sizeof(std::size_t));
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes,
                                                CUpti_Activity** record) {
  std::size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer) +
         record_bytes((*record)->kind, STAND_IN_VERSION);
  }
  if (at >= valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* const next = reinterpret_cast<CUpti_Activity*>(buffer + at);
  if (record_bytes(next->kind, STAND_IN_VERSION) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = next;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  if (is_elsewhere()) return CUPTI_ERROR_UNKNOWN;
  const std::lock_guard lock(state().mutex);
  *dropped = std::exchange(state().dropped, 0);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag) {
  if (is_elsewhere()) return CUPTI_ERROR_UNKNOWN;
  {
    const std::lock_guard lock(state().mutex);
    ++state().flushes;
  }
  while (state().hangs) pause();
  const std::lock_guard lock(state().mutex);
  State& here = state();
  if (here.complete == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  const bool forced = (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0;
  for (auto& [thread, buffer] : here.current) {
    if (buffer.data == nullptr || (!forced && (buffer.running != 0 || here.held))) continue;
    here.waiting.push_back(std::exchange(buffer, {}));
  }
  pass_on_complete(here, forced);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiFinalize(void) {
  const std::lock_guard lock(state().mutex);
  State& here = state();
  here.request = nullptr;
  here.complete = nullptr;
  here.timestamp = realtime;
  here.kinds.clear();
  here.runtime_calls.clear();
  here.driver_calls.clear();
  here.current.clear();
  here.waiting.clear();
  here.pool_limit = kDefaultPoolLimit;
  here.correlation = 0;
  return CUPTI_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
