// What the tensors of this process take on the CPU, now and at most: torch's allocator, counted. Counting
// costs some ten nanoseconds an allocation, and begins with count_allocations().
#pragma once

#include <cstdint>

namespace lockstep::trainer {

// From now on; what is allocated already is not counted.
void count_allocations();

std::int64_t allocated_bytes();
// Since the last call.
std::int64_t take_peak_bytes();

}  // namespace lockstep::trainer
