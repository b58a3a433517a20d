// Activity::shape of the sizes that a kernel was launched in.
#pragma once

#include <cstdint>

namespace lockstep::analyzer {

// FNV-1a over the numbers: kernels of one name that differ in their sizes differ in this but for one in four
// billion.
class Shape {
 public:
  void add(std::int64_t size) {
    for (int byte = 0; byte < 4; ++byte) {
      hash_ ^= static_cast<std::uint32_t>(size >> (8 * byte)) & 0xFFU;
      hash_ *= 16777619U;
    }
  }
  std::uint32_t number() const { return hash_ == 0 ? 1 : hash_; }  // 0 is none

 private:
  std::uint32_t hash_ = 2166136261U;
};

}  // namespace lockstep::analyzer
