#include "viewer/prepared/mapping_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>

namespace lockstep::viewer {

namespace {

// All that the handler may touch: lock-free, and never moved.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};  // 0: nothing is guarded
  std::atomic<bool> cut{false};
};
constexpr std::size_t kSlots = 64;
std::array<Slot, kSlots> slots;
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::uintptr_t page_size = 4096;
struct sigaction before {};

// Puts zeros where the file has no bytes any more: from the page that faulted to the end of the mapping.
bool replace(std::uintptr_t address) {
  for (Slot& slot : slots) {
    const std::uintptr_t end = slot.end.load();
    if (address < slot.begin.load() || address >= end) continue;
    const std::uintptr_t page = address / page_size * page_size;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): what faulted is known by its number alone
    void* const place = reinterpret_cast<void*>(page);
    void* const zeros =
        ::mmap(place, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    slot.cut.store(true);
    return zeros != MAP_FAILED;
  }
  return false;
}

void on_fault(int signal, siginfo_t* information, void* context) {
  const int error = errno;
  const bool replaced = replace(reinterpret_cast<std::uintptr_t>(information->si_addr));
  errno = error;
  if (replaced) return;
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal, information, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    ::signal(signal, SIG_DFL);  // and the instruction that faulted does so again
  }
}

void install() {
  page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &before);
}

}  // namespace

MappingGuard::MappingGuard(std::span<const std::byte> mapping) {
  static std::once_flag installed;
  std::call_once(installed, install);
  for (std::size_t i = 0; i < kSlots; ++i) {
    bool free = false;
    if (!slots[i].taken.compare_exchange_strong(free, true)) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
    slots[i].cut.store(false);
    slots[i].begin.store(begin);
    slots[i].end.store((begin + mapping.size() + page_size - 1) / page_size * page_size);
    slot_ = static_cast<int>(i);
    return;
  }
}

MappingGuard::~MappingGuard() {
  if (slot_ < 0) return;
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  slot.end.store(0);
  slot.taken.store(false);
}

bool MappingGuard::was_cut() const {
  return slot_ >= 0 && slots[static_cast<std::size_t>(slot_)].cut.load();
}

}  // namespace lockstep::viewer
