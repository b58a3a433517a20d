// Bounds of a rate that was counted.
#pragma once

#include <cstdint>

namespace lockstep::accuracy {

// Of k in n: the greatest rate at which k or fewer would still be seen with a chance of 1 - confidence
// (Clopper and Pearson, 1934; one-sided). 1 for k = n, 0 for n = 0 is never asked.
double upper_bound(std::int64_t k, std::int64_t n, double confidence = 0.95);
// Its mirror image: the least rate at which k or more would be seen with that chance.
double lower_bound(std::int64_t k, std::int64_t n, double confidence = 0.95);

}  // namespace lockstep::accuracy
