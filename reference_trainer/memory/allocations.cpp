#include "reference_trainer/memory/allocations.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <atomic>

namespace lockstep::trainer {
namespace {

std::atomic<std::int64_t> allocated = 0, peak = 0;

void add(std::int64_t bytes) {
  const std::int64_t now = allocated.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t most = peak.load(std::memory_order_relaxed);
  while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

// Of torch's allocator, which frees what it is given by its address alone.
c10::DeleterFnPtr free_memory = nullptr;

std::int64_t size_of(void* memory) {
  return memory == nullptr ? 0 : static_cast<std::int64_t>(malloc_usable_size(memory));
}

void count_and_free(void* memory) {
  add(-size_of(memory));
  free_memory(memory);
}

class CountingAllocator : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* inner) : inner_(inner) { free_memory = inner->raw_deleter(); }

  at::DataPtr allocate(std::size_t bytes) override {
    at::DataPtr memory = inner_->allocate(bytes);
    if (memory.compare_exchange_deleter(free_memory, count_and_free)) add(size_of(memory.get()));
    return memory;
  }
  c10::DeleterFnPtr raw_deleter() const override { return count_and_free; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    inner_->copy_data(to, from, bytes);
  }

 private:
  c10::Allocator* inner_;
};

}  // namespace

void count_allocations() {
  constexpr std::uint8_t kAboveTorchs = 200;
  if (c10::GetCPUAllocator()->raw_deleter() == nullptr) return;  // none that frees by address
  static CountingAllocator counting(c10::GetCPUAllocator());
  c10::SetCPUAllocator(&counting, kAboveTorchs);
}

std::int64_t allocated_bytes() {
  return allocated.load(std::memory_order_relaxed);
}

std::int64_t take_peak_bytes() {
  return peak.exchange(allocated_bytes(), std::memory_order_relaxed);
}

}  // namespace lockstep::trainer
