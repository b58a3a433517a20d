// What is kept of a kernel's launch sizes.
#include "trace/events/launch_shape.h"

#include <gtest/gtest.h>

#include <limits>

namespace lockstep::trace {
namespace {

TEST(LaunchShape, CountsWarps) {
  EXPECT_EQ(launch_shape({1, 1, 1, 1, 1, 1}).warps, 1U);
  EXPECT_EQ(launch_shape({5, 3, 2, 256, 1, 1}).warps, 30U * 8);
  EXPECT_EQ(launch_shape({5, 3, 2, 33, 1, 1}).warps, 30U * 2) << "a warp begun is a warp";
  EXPECT_EQ(launch_shape({7, 1, 1, 16, 16, 4}).warps, 7U * 32);
  EXPECT_EQ(launch_shape({200, 1, 1, 128, 1, 1}).warps, launch_shape({100, 1, 1, 256, 1, 1}).warps);
  EXPECT_NE(launch_shape({200, 1, 1, 128, 1, 1}).hash, launch_shape({100, 1, 1, 256, 1, 1}).hash);
}

TEST(LaunchShape, EndsAtTheGreatestNumber) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(launch_shape({kMost, 65535, 65535, 1024, 1, 1}).warps, std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(launch_shape({kMost, kMost, kMost, kMost, kMost, kMost}).warps,
            std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(launch_shape({kMost, 1, 1, 32, 1, 1}).warps, static_cast<std::uint32_t>(kMost));
}

TEST(LaunchShape, IsNotKnownOfSizesThatAreNone) {
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-4}, std::int64_t{1} << 31U}) {
    for (std::size_t at = 0; at < 6; ++at) {
      std::array<std::int64_t, 6> sizes{4, 1, 1, 128, 1, 1};
      sizes[at] = size;
      EXPECT_EQ(launch_shape(sizes).hash, 0U);
      EXPECT_EQ(launch_shape(sizes).warps, 0U);
    }
  }
}

}  // namespace
}  // namespace lockstep::trace
