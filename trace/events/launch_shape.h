// What is kept of the sizes that a kernel was launched in.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace lockstep::trace {

// Of each 0 where the sizes are not known.
struct LaunchShape {
  // FNV-1a over the sizes of the grid, x y z, and of its blocks, x y z: kernels of one name that differ in
  // them differ in this but for one in four billion.
  std::uint32_t hash = 0;
  // How many warps (32 threads of one block) it launched: the blocks of the grid times the warps of a block;
  // the greatest 32-bit number where there are more.
  std::uint32_t warps = 0;
};

// `sizes`: grid x, y, z, block x, y, z. Not known unless each is above 0 and below 2^31, as CUDA's are.
inline LaunchShape launch_shape(const std::array<std::int64_t, 6>& sizes) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
  constexpr std::int64_t kThreadsOfAWarp = 32;
  LaunchShape shape{2166136261U, 0};
  std::uint64_t blocks = 1, threads = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 0 || sizes[i] > std::numeric_limits<std::int32_t>::max()) return {};
    for (int byte = 0; byte < 4; ++byte) {
      shape.hash ^= static_cast<std::uint32_t>(sizes[i] >> (8 * byte)) & 0xFFU;
      shape.hash *= 16777619U;
    }
    std::uint64_t& product = i < 3 ? blocks : threads;
    product = std::min(product * static_cast<std::uint64_t>(sizes[i]), kLargest);
  }
  if (shape.hash == 0) shape.hash = 1;
  const std::uint64_t warps_of_a_block = (threads + kThreadsOfAWarp - 1) / kThreadsOfAWarp;
  shape.warps = static_cast<std::uint32_t>(std::min(blocks * warps_of_a_block, kLargest));
  return shape;
}

}  // namespace lockstep::trace
