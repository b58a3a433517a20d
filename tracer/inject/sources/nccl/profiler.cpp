#include "tracer/inject/sources/nccl/profiler.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "tracer/inject/core/source.h"
#include "tracer/inject/sources/nccl/nccl_source.h"
#include "tracer/inject/sources/nccl/profiler_abi.h"

namespace lockstep::tracer::nccl {

namespace {

constexpr unsigned kCapturedBit = 4;
constexpr unsigned kDataTypeBit = 5;
constexpr unsigned kNumberBit = 9;
constexpr std::uint64_t kKindMask = 0xF;
constexpr std::uint64_t kDataTypeMask = 0xF;
constexpr std::uintptr_t kContextTag = 0x8;  // so that the context of number 0 is not a null pointer
constexpr unsigned kContextBit = 4;

constexpr std::size_t kMaxName = 256;
constexpr std::size_t kMaxFunction = 64;

constexpr std::int32_t kMask = abi::kGroup | abi::kCollective | abi::kPointToPoint | abi::kGroupCall |
                               abi::kCollectiveCall | abi::kPointToPointCall | abi::kKernelLaunch |
                               abi::kCopyEngineCollective;
constexpr std::int32_t kNetworkMask = abi::kProxyOperation | abi::kProxyStep | abi::kNetwork;

std::atomic<std::uint32_t> communicators{0};
std::atomic<std::uint64_t> number_blocks{0};

// Numbers are handed to threads in blocks, so that they don't share a counter.
struct Numbers {
  std::uint64_t next = 0;
  std::uint64_t end = 0;
};
constinit thread_local Numbers numbers __attribute__((tls_model("initial-exec")));

std::uint64_t new_number() noexcept {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 16U;
  if (numbers.next == numbers.end) [[unlikely]] {
    numbers.next = number_blocks.fetch_add(1, std::memory_order_relaxed) * kBlock + 1;
    numbers.end = numbers.next + kBlock;
  }
  return numbers.next++;
}

// Only the source's number: it is set before any handle exists.
std::atomic<SourceId> source_id{Tracer::kNoSource};

template <class Record>
void put(RecordType type, const Record& record, const char* text = nullptr, std::size_t length = 0) noexcept {
  const SourceId id = source_id.load(std::memory_order_relaxed);
  if (id == Tracer::kNoSource) [[unlikely]]
    return;
  emit(id, static_cast<std::uint8_t>(type), &record, sizeof record, text, static_cast<std::uint32_t>(length));
}

std::uint64_t call_number(const void* pointer) noexcept {
  const Handle handle = Handle::of(pointer);
  return handle.kind == HandleKind::group_call ? handle.number : 0;
}

bool wants_network() noexcept {
  const char* const detail = std::getenv("LOCKSTEP_NCCL_DETAIL");
  return detail != nullptr && std::string_view(detail) == "proxy";
}

}  // namespace

Handle Handle::of(const void* pointer) noexcept {
  const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
  Handle handle;
  const std::uint64_t kind = bits & kKindMask;
  if (kind > static_cast<std::uint64_t>(HandleKind::network)) return handle;
  handle.kind = static_cast<HandleKind>(kind);
  handle.captured = ((bits >> kCapturedBit) & 1U) != 0;
  handle.data_type = static_cast<trace::DataType>((bits >> kDataTypeBit) & kDataTypeMask);
  handle.number = bits >> kNumberBit;
  return handle;
}

void* Handle::pointer() const noexcept {
  const std::uint64_t bits = static_cast<std::uint64_t>(kind) | std::uint64_t{captured} << kCapturedBit |
                             (static_cast<std::uint64_t>(data_type) & kDataTypeMask) << kDataTypeBit |
                             number << kNumberBit;
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(bits));  // NOLINT(performance-no-int-to-ptr)
}

std::uint32_t context_number(const void* context) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(context);
  if ((bits & ((std::uintptr_t{1} << kContextBit) - 1)) != kContextTag) return 0;
  return static_cast<std::uint32_t>(bits >> kContextBit);
}

void begin_communicator(void** context, std::int32_t* mask, const CommunicatorInfo& info) noexcept {
  const int saved = errno;
  if (context != nullptr) *context = nullptr;
  if (mask != nullptr) *mask = 0;
  if (context != nullptr && mask != nullptr && register_source(source_id)) {
    CommunicatorRecord record;
    record.hash = info.hash;
    record.context = communicators.fetch_add(1, std::memory_order_relaxed) + 1;
    record.rank = info.rank;
    record.ranks = info.ranks;
    record.version = info.version;
    const std::size_t length = info.name != nullptr ? strnlen(info.name, kMaxName) : 0;
    put(RecordType::communicator, record, info.name, length);
    *context = reinterpret_cast<void*>(  // NOLINT(performance-no-int-to-ptr)
        (std::uintptr_t{record.context} << kContextBit) | kContextTag);
    *mask = kMask | (wants_network() ? kNetworkMask : 0);
  }
  errno = saved;
}

void end_communicator(void* context) noexcept {
  const std::uint32_t number = context_number(context);
  if (number != 0) put(RecordType::communicator_end, CommunicatorEndRecord{number});
}

void* begin_batch() noexcept {
  return Handle{HandleKind::batch, false, {}, new_number()}.pointer();
}

void* begin_call(const void* parent, bool captured, trace::DataType data_type) noexcept {
  const std::uint64_t group = call_number(parent);
  return Handle{HandleKind::group_call, captured, data_type, group != 0 ? group : new_number()}.pointer();
}

void* begin_launch(void* context, const void* parent) noexcept {
  const Handle handle{HandleKind::launch, false, {}, new_number()};
  put(RecordType::launch, LaunchRecord{handle.number, call_number(parent), context_number(context)});
  return handle.pointer();
}

void* begin_operation(void* context, OperationRecord record, const void* batch, const void* call,
                      const char* function) noexcept {
  const Handle of_call = Handle::of(call);
  const Handle of_batch = Handle::of(batch);
  record.context = context_number(context);
  if (of_batch.kind == HandleKind::batch) record.batch = of_batch.number;
  if (of_call.kind == HandleKind::group_call) {
    record.call = of_call.number;
    record.called_data_type = of_call.data_type;
    if (of_call.captured) record.flags |= operation_flags::kCaptured;
  }
  std::size_t length = 0;
  if (record.operation == trace::Operation::unknown && function != nullptr) {
    length = strnlen(function, kMaxFunction);
  }
  put(RecordType::operation, record, function, length);
  return Handle{HandleKind::operation, false, {}, new_number()}.pointer();
}

void* begin_network(NetworkBeginRecord record, const void* parent) noexcept {
  const Handle handle{HandleKind::network, false, {}, new_number()};
  record.handle = handle.number;
  record.parent = Handle::of(parent).number;
  put(RecordType::network_begin, record);
  return handle.pointer();
}

void change_state(void* handle, std::int32_t state, std::uint64_t bytes) noexcept {
  const Handle known = Handle::of(handle);
  if (known.kind != HandleKind::network) return;
  put(RecordType::network_state, NetworkStateRecord{known.number, bytes, state});
}

void stop(void* handle) noexcept {
  const Handle known = Handle::of(handle);
  switch (known.kind) {
    case HandleKind::batch:
      return put(RecordType::batch_end, BatchEndRecord{known.number});
    case HandleKind::launch:
      return put(RecordType::launch_end, LaunchEndRecord{known.number});
    case HandleKind::network:
      return put(RecordType::network_end, NetworkEndRecord{known.number});
    // An operation ends with its batch, a call with the launches in it.
    case HandleKind::operation:
    case HandleKind::group_call:
    case HandleKind::none:
      return;
  }
}

}  // namespace lockstep::tracer::nccl
