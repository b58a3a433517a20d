#include "analyzer/diff/exact_mean.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace lockstep::analyzer {
namespace {

TEST(ExactMean, RoundsToTheNearest) {
  EXPECT_EQ(rounded(quotient(7, 2)), 4);
  EXPECT_EQ(rounded(quotient(10, 3)), 3);
  EXPECT_EQ(rounded(quotient(0, 9)), 0);
  EXPECT_EQ(rounded(quotient(INT64_MAX, 1)), INT64_MAX);
}

TEST(ExactMean, PartsKeepTheirSum) {
  // A third each of 100: one of them takes what is left.
  const std::vector<ExactNs> thirds{quotient(100, 3), quotient(100, 3), quotient(100, 3)};
  EXPECT_EQ(rounded_together(thirds), (std::vector<std::int64_t>{34, 33, 33}));
  EXPECT_TRUE(rounded_together({}).empty());
}

TEST(ExactMean, WhateverThePartsAre) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    const auto count = static_cast<std::int64_t>(1 + random() % 1000);
    std::vector<ExactNs> parts;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < 1 + random() % 40; ++i) {
      const auto part = static_cast<std::int64_t>(random() % (std::uint64_t{1} << (random() % 50)));
      sum += part;
      parts.push_back(quotient(part, count));
    }
    const std::vector<std::int64_t> whole = rounded_together(parts);
    const std::int64_t total = std::accumulate(whole.begin(), whole.end(), std::int64_t{0});
    // The quotient of the whole, rounded; at most one off where it lies at a half.
    EXPECT_LE(std::abs(2 * (total * count - sum)), count + 1) << sum << " / " << count;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const ExactNs exact = parts[i] >> 32;
      EXPECT_TRUE(whole[i] == exact || whole[i] == exact + 1);
    }
  }
}

}  // namespace
}  // namespace lockstep::analyzer
