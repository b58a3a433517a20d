// What is read of c10d's options without its headers.
#include "tracer/inject/sources/pytorch/backend_calls.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace lockstep::tracer::pytorch {
namespace {

constexpr std::int64_t kUnset = -1;  // c10d's timeout where none is given

// Words of 64 bits: table and counts of the ReduceOp, what it is, what belongs to it; root, tensor, timeout.
TEST(RootOfReduce, IsThatOfBothLayouts) {
  for (const std::int64_t root : {0, 1, 7}) {
    for (const std::int64_t timeout : {kUnset, std::int64_t{1'800'000}}) {
      const std::array<std::int64_t, 8> counts_of_32_bits{0x7f00, 0x100000001, 0, 0, root, 0, timeout, 1};
      EXPECT_EQ(root_of_reduce(counts_of_32_bits.data()), root);
      const std::array<std::int64_t, 9> counts_of_64_bits{0x7f00, 1, 1, 3, 0, root, 0, timeout, 1};
      EXPECT_EQ(root_of_reduce(counts_of_64_bits.data()), root);
    }
  }
}

TEST(RootOfReduce, IsUnknownInAnythingElse) {
  EXPECT_EQ(root_of_reduce(nullptr), -1);
  std::array<std::int64_t, 9> other{};
  other.fill(0x7f00);
  EXPECT_EQ(root_of_reduce(other.data()), -1);
}

}  // namespace
}  // namespace lockstep::tracer::pytorch
