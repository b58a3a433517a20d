// What the tensors of this process take on its device, now and at most. On the CPU torch's allocator is
// counted, which costs some ten nanoseconds an allocation; that of an accelerator counts by itself.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace lockstep::trainer {

// From now on; on the CPU, what is allocated already is not counted.
void count_allocations(c10::Device device);

std::int64_t allocated_bytes();
// Since the last call.
std::int64_t take_peak_bytes();

}  // namespace lockstep::trainer
