// The sizes that a kernel was launched in, as one number.
#pragma once

#include <cstdint>

namespace lockstep::trace {

// FNV-1a over the sizes of the grid, x y z, and of its blocks, x y z: kernels of one name that differ in them
// differ in this but for one in four billion. 0 stands for "not known" and is the shape of no kernel.
class LaunchShape {
 public:
  void add(std::int64_t size) {
    for (int byte = 0; byte < 4; ++byte) {
      hash_ ^= static_cast<std::uint32_t>(size >> (8 * byte)) & 0xFFU;
      hash_ *= 16777619U;
    }
  }
  std::uint32_t number() const { return hash_ == 0 ? 1 : hash_; }

 private:
  std::uint32_t hash_ = 2166136261U;
};

}  // namespace lockstep::trace
