// 16-bit floating point numbers from their bit patterns.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace lockstep::tracer::nvtx {

// IEEE 754 binary16.
inline double half_to_double(std::uint16_t half) {
  const int exponent = (half >> 10) & 0x1F;
  const double fraction = half & 0x3FF;
  const double sign = (half & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1F) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

// The upper half of an IEEE 754 binary32.
inline double bfloat_to_double(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16U);
}

}  // namespace lockstep::tracer::nvtx
