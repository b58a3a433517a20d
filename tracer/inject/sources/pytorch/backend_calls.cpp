#include "tracer/inject/sources/pytorch/backend_calls.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "tracer/inject/sources/pytorch/active.h"
#include "tracer/inject/sources/pytorch/tensor_sizes.h"

namespace lockstep::tracer::pytorch {

std::array<std::array<std::atomic<Call>, kMethods.size()>, kClasses.size()> originals{};

namespace {

// Per group: its size, and how many operations it was given. Found by the backend's address, without a lock.
struct GroupState {
  std::atomic<void*> backend{nullptr};
  std::atomic<std::uint32_t> size{0};
  std::atomic<std::int64_t> collectives{0};
  std::atomic<std::int64_t> messages{0};
};
constexpr std::size_t kGroupSlots = 1024;  // a power of two
std::array<GroupState, kGroupSlots> groups;

std::size_t slot_of(const void* backend) {
  const auto address = reinterpret_cast<std::uintptr_t>(backend);
  return (address >> 4U ^ address >> 14U) & (kGroupSlots - 1);
}

// The state of a group that was declared; where the table is full or it was not: nullptr.
GroupState* state_of(const void* backend) {
  for (std::size_t i = 0, slot = slot_of(backend); i < kGroupSlots; ++i, slot = (slot + 1) % kGroupSlots) {
    void* const there = groups[slot].backend.load(std::memory_order_acquire);
    if (there == backend) return &groups[slot];
    if (there == nullptr) return nullptr;
  }
  return nullptr;
}

// The call that a thread is in. It may have ended by an exception, which passes us by: then the frame that
// noted it is gone. A call inside it has a deeper frame and finds its number still standing there.
struct CurrentCall {
  std::uint64_t call = 0;
  std::uint32_t works = 0;
  const volatile std::uint64_t* frame = nullptr;
  bool message = false;
};
thread_local CurrentCall current __attribute__((tls_model("initial-exec")));
std::atomic<std::uint64_t> calls{0};

bool inside_a_call(const volatile std::uint64_t* here) {
  return current.call != 0 && here < current.frame && *current.frame == current.call;
}

TensorSize larger(TensorSize one, TensorSize other) {
  if (!one.bytes || !other.bytes) return one.bytes ? other : one;
  return *one.bytes >= *other.bytes ? one : other;
}

TensorSize by_n(TensorSize size, std::uint32_t ranks) {
  if (size.bytes) *size.bytes *= ranks;
  return size;
}

TensorSize measure(const Method& method, void* a, void* b, std::uint32_t ranks) {
  const auto* list_a = static_cast<const TensorList*>(a);
  const auto* list_b = static_cast<const TensorList*>(b);
  const auto* one_a = static_cast<const TensorSlot*>(a);
  const auto* one_b = static_cast<const TensorSlot*>(b);
  switch (method.sized) {
    case Sized::first:
      return size_of(list_a);
    case Sized::second_list:
      return size_of(list_b);
    case Sized::second_list_by_n:
      return by_n(size_of(list_b), ranks);
    case Sized::first_list_by_n:
      return by_n(size_of(list_a), ranks);
    case Sized::first_tensor:
      return size_of(one_a);
    case Sized::second_tensor:
      return size_of(one_b);
    case Sized::larger_tensor:
      return larger(size_of(one_a), size_of(one_b));
    case Sized::larger_list:
      return larger(size_of(list_a), size_of(list_b));
    case Sized::nothing:
      break;
  }
  return {};
}

std::int32_t rank_at(const void* options, std::size_t offset) {
  std::int64_t rank = -1;
  if (options != nullptr) std::memcpy(&rank, static_cast<const std::byte*>(options) + offset, sizeof rank);
  return rank >= 0 && rank <= INT32_MAX ? static_cast<std::int32_t>(rank) : -1;
}

std::int32_t peer_of(const Method& method, void* b, void* c) {
  // Options of broadcast, gather and scatter begin with `int64_t rootRank`.
  switch (method.peer) {
    case Peer::root_in_second:
      return rank_at(b, 0);
    case Peer::root_in_third:
      return rank_at(c, 0);
    case Peer::root_of_reduce:
      return root_of_reduce(b);
    case Peer::second_argument:
      return static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(b));
    case Peer::none:
      break;
  }
  return -1;
}

// Who tells when the operation is over.
Ends ends_of(Ends of_collectives, bool is_message, bool on_device) {
  // MPI hands messages over in the call: its group's thread never sees them.
  if (of_collectives == Ends::finished && is_message) return Ends::waited;
  // A wait for a device's work makes the device wait, and returns.
  return of_collectives == Ends::waited && on_device ? Ends::on_device : of_collectives;
}

template <std::size_t kClass, std::size_t kMethod>
WorkHandle noted(void* self, void* a, void* b, void* c, void* d, void* e) {
  const Call original = originals[kClass][kMethod].load(std::memory_order_relaxed);
  volatile std::uint64_t frame = 0;
  // A method that calls another one of the same object is one operation.
  GroupState* const group = !is_active() || inside_a_call(&frame) ? nullptr : state_of(self);
  if (group == nullptr) return original(self, a, b, c, d, e);
  constexpr Method kInfo = kMethods[kMethod];
  constexpr bool kMessage =
      kInfo.operation == trace::Operation::send || kInfo.operation == trace::Operation::recv;
  CallRecord record;
  record.call = calls.fetch_add(1, std::memory_order_relaxed) + 1;
  record.backend = reinterpret_cast<std::uintptr_t>(self);
  const TensorSize size = measure(kInfo, a, b, group->size.load(std::memory_order_relaxed));
  record.bytes = size.bytes.value_or(trace::kUnknownBytes);
  record.data_type = size.data_type;
  record.operation = kInfo.operation;
  record.peer = peer_of(kInfo, b, c);
  record.ends = ends_of(kClasses[kClass].ends, kMessage, size.on_device);
  record.sequence = (kMessage ? group->messages : group->collectives).fetch_add(1, std::memory_order_relaxed);
  frame = record.call;
  current = {record.call, 0, &frame, kMessage};
  record.begin_ticks = read_ticks(Tracer::instance().ticks());
  WorkHandle handle = original(self, a, b, c, d, e);
  record.works = current.works;
  current = {};
  frame = 0;
  // Also of what runs on a device: nothing else is at that address any more.
  if (kMessage || record.ends != Ends::queued) record.work = reinterpret_cast<std::uintptr_t>(handle.work);
  note(RecordType::call, record);
  return handle;
}

template <std::size_t kClass, std::size_t... kMethod>
constexpr std::array<Call, kMethods.size()> all_noted(std::index_sequence<kMethod...>) {
  return {noted<kClass, kMethod>...};
}

template <std::size_t... kClass>
constexpr std::array<std::array<Call, kMethods.size()>, kClasses.size()> classes_noted(
    std::index_sequence<kClass...>) {
  return {all_noted<kClass>(std::make_index_sequence<kMethods.size()>())...};
}
}  // namespace

// struct ReduceOptions { ReduceOp op; int64_t rootRank, rootTensor; milliseconds timeout; … }. A ReduceOp is
// an intrusive_ptr_target of 16 bytes (its two counts have 32 bits each, as in torch 2.11) or 24 (64 bits),
// with two words behind it. One reduces one tensor, so rootTensor is 0, and a timeout is not.
std::int32_t root_of_reduce(const void* options) {
  constexpr std::size_t kRoot = 32, kRootOfWideCounts = 40, kWord = 8;
  if (options == nullptr) return -1;
  if (rank_at(options, kRoot + kWord) == 0 && rank_at(options, kRoot + 2 * kWord) != 0)
    return rank_at(options, kRoot);
  if (rank_at(options, kRootOfWideCounts + kWord) == 0) return rank_at(options, kRootOfWideCounts);
  return -1;
}

const std::array<std::array<Call, kMethods.size()>, kClasses.size()> kReplacements =
    classes_noted(std::make_index_sequence<kClasses.size()>());

bool follow_group(void* backend, std::uint32_t size) noexcept {
  for (std::size_t i = 0, slot = slot_of(backend); i < kGroupSlots; ++i, slot = (slot + 1) % kGroupSlots) {
    GroupState& state = groups[slot];
    void* expected = nullptr;
    // The address of a group that was destroyed may come again: then counting begins anew.
    if (!state.backend.compare_exchange_strong(expected, backend) && expected != backend) continue;
    state.size.store(size);
    state.collectives.store(0);
    state.messages.store(0);
    return true;
  }
  return false;
}

std::uint64_t note_enqueued_work() noexcept {
  if (current.call == 0 || *current.frame != current.call) return 0;
  ++current.works;
  return current.call;
}

std::uint64_t current_message() noexcept {
  return current.call != 0 && current.message && *current.frame == current.call ? current.call : 0;
}

}  // namespace lockstep::tracer::pytorch
