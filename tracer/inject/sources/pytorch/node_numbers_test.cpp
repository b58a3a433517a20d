#include "tracer/inject/sources/pytorch/node_numbers.h"

#include <gtest/gtest.h>

#include <array>

namespace lockstep::tracer::pytorch {
namespace {

// Stands for libtorch's object on the stack: as large, and the number in one place of it.
using Object = std::array<std::uint64_t, 64>;

Object object(std::size_t place, std::uint64_t number) {
  Object made;
  made.fill(0xABCD);
  made[place] = number;
  return made;
}

TEST(NodeNumbers, ThePlaceIsLearntFromNumbersThatAreKnown) {
  NodeNumbers numbers;
  for (std::uint64_t next = 100; next < 130; ++next) {
    const Object operation = object(17, next);
    numbers.learn(operation.data(), next);
  }
  EXPECT_EQ(numbers.of(object(17, 4711).data()), 4711U);
}

TEST(NodeNumbers, AFewNumbersProveNothing) {
  NodeNumbers numbers;
  for (int again = 0; again < 100; ++again) {
    for (std::uint64_t next = 100; next < 110; ++next) {
      // The same numbers over and over, and an object without any, as of an operator that makes no node.
      numbers.learn(object(17, next == 100 ? next : 1).data(), next);
    }
  }
  EXPECT_EQ(numbers.of(object(17, 4711).data()), std::nullopt);
}

TEST(NodeNumbers, TwoPlacesThatAlwaysAgreeAreNoPlace) {
  NodeNumbers numbers;
  for (std::uint64_t next = 100; next < 200; ++next) {
    Object operation = object(17, next);
    operation[30] = next;
    numbers.learn(operation.data(), next);
  }
  EXPECT_EQ(numbers.of(object(17, 4711).data()), std::nullopt);
}

TEST(NodeNumbers, APlaceThatAgreesNowAndThenIsOutvoted) {
  NodeNumbers numbers;
  for (std::uint64_t next = 100; next < 150; ++next) {
    Object operation = object(17, next);
    if (next % 5 == 0) operation[30] = next;
    numbers.learn(operation.data(), next);
  }
  EXPECT_EQ(numbers.of(object(17, 4711).data()), 4711U);
}

TEST(NodeNumbers, SmallNumbersStandAnywhereAndAreNotLookedAt) {
  NodeNumbers numbers;
  for (std::uint64_t next = 0; next < 64; ++next) numbers.learn(object(17, next).data(), next);
  EXPECT_EQ(numbers.of(object(17, 4711).data()), std::nullopt);
}

}  // namespace
}  // namespace lockstep::tracer::pytorch
