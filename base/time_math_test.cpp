#include "base/time_math.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST(TimeMath, SumsStopAtTheEndsOfTheType) {
  EXPECT_EQ(saturating_add(2, -5), -3);
  EXPECT_EQ(saturating_add(kMost - 1, 1), kMost);
  EXPECT_EQ(saturating_add(kMost, 1), kMost);
  EXPECT_EQ(saturating_add(kLeast, -1), kLeast);
  EXPECT_EQ(saturating_add(kLeast, kMost), -1);
}

TEST(TimeMath, ProductsStopAtTheGreatestNumber) {
  EXPECT_EQ(saturating_product(3, 4), 12);
  EXPECT_EQ(saturating_product(0, kMost), 0);
  EXPECT_EQ(saturating_product(kMost / 2, 3), kMost);
}

TEST(TimeMath, LengthsStopAtTheGreatestNumber) {
  EXPECT_EQ(saturating_length(-3, 4), 7);
  EXPECT_EQ(saturating_length(5, 5), 0);
  EXPECT_EQ(saturating_length(kLeast, kMost), kMost);
  EXPECT_EQ(saturating_length(-1, kMost), kMost);
}

}  // namespace
}  // namespace lockstep
