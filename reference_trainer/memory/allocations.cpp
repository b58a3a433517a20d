#include "reference_trainer/memory/allocations.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
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

void count_on_cpu() {
  constexpr std::uint8_t kAboveTorchs = 200;
  if (c10::GetCPUAllocator()->raw_deleter() == nullptr) return;  // none that frees by address
  static CountingAllocator counting(c10::GetCPUAllocator());
  c10::SetCPUAllocator(&counting, kAboveTorchs);
}

c10::DeviceAllocator* accelerator = nullptr;  // null: the CPU is counted
c10::DeviceIndex accelerator_index = 0;

using c10::CachingAllocator::StatType;
constexpr auto kAll = static_cast<std::size_t>(StatType::AGGREGATE);

}  // namespace

void count_allocations(c10::Device device) {
  if (device.is_cpu()) return count_on_cpu();
  accelerator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device.type()));
  accelerator_index = device.index();
}

std::int64_t allocated_bytes() {
  if (accelerator) return accelerator->getDeviceStats(accelerator_index).allocated_bytes[kAll].current;
  return allocated.load(std::memory_order_relaxed);
}

std::int64_t take_peak_bytes() {
  if (accelerator) {
    const std::int64_t most = accelerator->getDeviceStats(accelerator_index).allocated_bytes[kAll].peak;
    accelerator->resetPeakStats(accelerator_index);
    return most;
  }
  return peak.exchange(allocated_bytes(), std::memory_order_relaxed);
}

}  // namespace lockstep::trainer
