// Compiled without exceptions, as backend_calls.cpp is: what PyTorch throws passes through.
#include "tracer/inject/sources/pytorch/message_ends.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tracer/inject/sources/pytorch/active.h"
#include "tracer/inject/sources/pytorch/backend_calls.h"
#include "tracer/inject/sources/pytorch/loaded_library.h"

namespace lockstep::tracer::pytorch {
namespace {

// Of torch 2.4 to 2.11.
constexpr const char* kTable = "_ZTVN4gloo9transport3tcp13UnboundBufferE";
constexpr const char* kSend = "_ZN4gloo9transport3tcp13UnboundBuffer4sendEimmm";
constexpr const char* kRecv = "_ZN4gloo9transport3tcp13UnboundBuffer4recvEimmm";
constexpr const char* kSent = "_ZN4gloo9transport3tcp13UnboundBuffer20handleSendCompletionEi";
constexpr const char* kReceived = "_ZN4gloo9transport3tcp13UnboundBuffer20handleRecvCompletionEi";
// An object points behind the table's offset and type information.
constexpr std::size_t kBeforeEntries = 2;
constexpr std::size_t kLongestTable = 64;

using Transfer = void (*)(void* buffer, int rank, std::uint64_t slot, std::size_t offset, std::size_t bytes);
using Complete = void (*)(void* buffer, int rank);

Transfer send = nullptr;
Transfer receive = nullptr;
Complete sent = nullptr;
Complete received = nullptr;

// Buffers of messages under way, and the call that each belongs to: Gloo's collectives use buffers too, and
// far more of them. Where no place is free a message ends with the wait for it.
struct Slot {
  std::atomic<std::uintptr_t> buffer{0};
  std::atomic<std::uint64_t> call{0};
};
constexpr std::size_t kSlots = 4096;  // a power of two
constexpr std::size_t kProbes = 16;
constexpr std::uintptr_t kTaken = 1;  // its call is being written
std::array<Slot, kSlots> slots;

Slot& slot_at(std::uintptr_t buffer, std::size_t probe) {
  return slots[((buffer >> 4U ^ buffer >> 16U) + probe) & (kSlots - 1)];
}

// 0: not a message's, or not known.
std::uint64_t take(std::uintptr_t buffer) {
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    Slot& slot = slot_at(buffer, probe);
    if (slot.buffer.load(std::memory_order_acquire) != buffer) continue;
    const std::uint64_t call = slot.call.load(std::memory_order_relaxed);
    return slot.buffer.compare_exchange_strong(buffer, 0, std::memory_order_acq_rel) ? call : 0;
  }
  return 0;
}

void remember(std::uintptr_t buffer, std::uint64_t call) {
  take(buffer);  // of a message that never ended, at the same address
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    Slot& slot = slot_at(buffer, probe);
    std::uintptr_t expected = 0;
    if (!slot.buffer.compare_exchange_strong(expected, kTaken, std::memory_order_acquire)) continue;
    slot.call.store(call, std::memory_order_relaxed);
    slot.buffer.store(buffer, std::memory_order_release);
    return;
  }
}

template <Transfer* kOriginal>
void noted_transfer(void* buffer, int rank, std::uint64_t slot, std::size_t offset, std::size_t bytes) {
  if (const std::uint64_t call = current_message(); call != 0)
    remember(reinterpret_cast<std::uintptr_t>(buffer), call);
  (*kOriginal)(buffer, rank, slot, offset, bytes);
}

template <Complete* kOriginal>
void noted_completion(void* buffer, int rank) {
  // Before it is said: whoever waits may take the buffer away then.
  if (const std::uint64_t call = take(reinterpret_cast<std::uintptr_t>(buffer)); call != 0)
    note(RecordType::message_done, WorkRecord{0, call});
  (*kOriginal)(buffer, rank);
}

}  // namespace

std::string follow_message_ends() {
  constexpr const char* kProblem = "when messages end before they are waited for (Gloo's UnboundBuffer)";
  const std::optional<LoadedLibrary> torch = LoadedLibrary::find("libtorch_cpu.so");
  if (!torch.has_value()) return kProblem;
  auto** const table = static_cast<void**>(torch->symbol(kTable));
  send = torch->function<Transfer>(kSend);
  receive = torch->function<Transfer>(kRecv);
  sent = torch->function<Complete>(kSent);
  received = torch->function<Complete>(kReceived);
  if (table == nullptr || send == nullptr || receive == nullptr || sent == nullptr || received == nullptr)
    return kProblem;
  const auto follow = [&](Transfer original, Transfer replacement) {
    return replace_virtual(table + kBeforeEntries, kLongestTable, reinterpret_cast<void*>(original),
                           reinterpret_cast<void*>(replacement));
  };
  const bool ends =
      torch->redirect(kSent, reinterpret_cast<void*>(noted_completion<&sent>)) != nullptr &&
      torch->redirect(kReceived, reinterpret_cast<void*>(noted_completion<&received>)) != nullptr;
  return ends && follow(send, noted_transfer<&send>) && follow(receive, noted_transfer<&receive>) ? ""
                                                                                                  : kProblem;
}

}  // namespace lockstep::tracer::pytorch
