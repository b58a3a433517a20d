// Integer arithmetic on nanoseconds that stops at the ends of the type instead of wrapping around.
#pragma once

#include <cstdint>
#include <limits>

namespace lockstep {

inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

// Of what is not negative.
inline std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return std::numeric_limits<std::int64_t>::max();
}

// Length of [begin, end); at most the greatest 64-bit number. Precondition: begin <= end.
inline std::int64_t saturating_length(std::int64_t begin, std::int64_t end) {
  std::int64_t length = 0;
  if (!__builtin_sub_overflow(end, begin, &length)) return length;
  return std::numeric_limits<std::int64_t>::max();
}

}  // namespace lockstep
