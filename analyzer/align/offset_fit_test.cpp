#include "analyzer/align/offset_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace lockstep::analyzer {
namespace {

constexpr double kMaxRate = 200e-6;

// Slow and obvious: any lower bound and any upper bound limit the rate, by the line between them.
struct Rates {
  double least = -kMaxRate, most = kMaxRate;
  bool possible = true;
};
Rates rates_by_pairs(std::vector<OffsetBound> bounds) {
  Rates rates;
  for (const OffsetBound& lower : bounds) {
    for (const OffsetBound& upper : bounds) {
      if (lower.upper || !upper.upper) continue;
      const double rise = static_cast<double>(upper.offset - lower.offset);
      const double run = static_cast<double>(upper.at - lower.at);
      if (run == 0) {
        rates.possible = rates.possible && rise >= 0;
      } else if (run > 0) {
        rates.most = std::min(rates.most, rise / run);
      } else {
        rates.least = std::max(rates.least, rise / run);
      }
    }
  }
  rates.possible = rates.possible && rates.least <= rates.most;
  return rates;
}

std::vector<OffsetBound> random_bounds(unsigned seed, std::size_t count, double rate, std::int64_t slack) {
  std::mt19937_64 random(seed);
  std::vector<OffsetBound> bounds;
  const std::int64_t offset = static_cast<std::int64_t>(random() % 2'000'000'000'000) - 1'000'000'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::int64_t>(random() % 10'000'000'000);
    const bool upper = random() % 2 == 0;
    const auto off = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(slack));
    const std::int64_t truth = offset + static_cast<std::int64_t>(rate * static_cast<double>(at));
    bounds.push_back({at, upper ? truth + off + 1 : truth - off - 1, upper});
  }
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const OffsetBound& a, const OffsetBound& b) { return a.at < b.at; });
  return bounds;
}

TEST(OffsetFit, NoBoundsNoPieces) {
  EXPECT_TRUE(fit_offset({}, kMaxRate).empty());
}

TEST(OffsetFit, OneSideAloneLeavesTheRateOpen) {
  const std::vector<OffsetBound> bounds{{0, 5, true}, {1000, 3, true}};
  const std::vector<FittedPiece> pieces = fit_offset(bounds, kMaxRate);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].count, 2u);
  EXPECT_DOUBLE_EQ(pieces[0].least_rate, -kMaxRate);
  EXPECT_DOUBLE_EQ(pieces[0].most_rate, kMaxRate);
}

TEST(OffsetFit, ATightPairAtEachEndGivesTheRate) {
  // 100 ns gained in a millisecond.
  const std::vector<OffsetBound> bounds{
      {0, 0, false}, {0, 10, true}, {1'000'000, 100, false}, {1'000'000, 110, true}};
  const std::vector<FittedPiece> pieces = fit_offset(bounds, kMaxRate);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_DOUBLE_EQ(pieces[0].least_rate, 90e-6);
  EXPECT_DOUBLE_EQ(pieces[0].most_rate, 110e-6);
}

TEST(OffsetFit, AgreesWithEveryPairOfBounds) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const double rate = (static_cast<double>(seed % 7) - 3) * 50e-6;
    const std::vector<OffsetBound> bounds =
        random_bounds(seed, 2 + seed % 60, rate, 1 + 5000 * (seed % 11 + 1));
    const std::vector<FittedPiece> pieces = fit_offset(bounds, kMaxRate);
    ASSERT_EQ(pieces.size(), 1u) << "seed " << seed;
    const Rates expected = rates_by_pairs(bounds);
    EXPECT_NEAR(pieces[0].least_rate, expected.least, 1e-12) << "seed " << seed;
    EXPECT_NEAR(pieces[0].most_rate, expected.most, 1e-12) << "seed " << seed;
    EXPECT_LE(pieces[0].least_rate, rate + 1e-9);
    EXPECT_GE(pieces[0].most_rate, rate - 1e-9);
  }
}

TEST(OffsetFit, ASetClockBeginsANewPieceAndNeitherHoldsWhatIsInDoubt) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::vector<OffsetBound> bounds = random_bounds(seed, 200, 20e-6, 20'000);
    const std::int64_t set_at = 4'000'000'000 + static_cast<std::int64_t>(seed) * 10'000'000;
    const std::int64_t by = seed % 2 == 0 ? 100'000 : -100'000;  // more than the bounds leave open
    for (OffsetBound& bound : bounds)
      if (bound.at >= set_at) bound.offset += by;
    const std::vector<FittedPiece> pieces = fit_offset(bounds, kMaxRate);
    ASSERT_EQ(pieces.size(), 2u) << "seed " << seed;
    EXPECT_EQ(pieces[0].first, 0u);
    EXPECT_LT(bounds[pieces[0].first + pieces[0].count - 1].at, set_at) << "seed " << seed;
    EXPECT_GE(bounds[pieces[1].first].at, set_at) << "seed " << seed;
    EXPECT_EQ(pieces[1].first + pieces[1].count, bounds.size());
    for (const FittedPiece& piece : pieces) {
      const Rates expected =
          rates_by_pairs({bounds.begin() + static_cast<std::ptrdiff_t>(piece.first),
                          bounds.begin() + static_cast<std::ptrdiff_t>(piece.first + piece.count)});
      EXPECT_TRUE(expected.possible);
      EXPECT_NEAR(piece.least_rate, expected.least, 1e-12);
      EXPECT_NEAR(piece.most_rate, expected.most, 1e-12);
    }
  }
}

TEST(OffsetFit, NonsenseFallsApartWithoutLoss) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<OffsetBound> bounds;
    for (int i = 0; i < 100; ++i)
      bounds.push_back({static_cast<std::int64_t>(random() % 1000), static_cast<std::int64_t>(random() % 100),
                        i % 2 == 0});
    std::stable_sort(bounds.begin(), bounds.end(),
                     [](const OffsetBound& a, const OffsetBound& b) { return a.at < b.at; });
    std::size_t next = 0;
    for (const FittedPiece& piece : fit_offset(bounds, kMaxRate)) {
      EXPECT_GE(piece.first, next);
      EXPECT_GT(piece.count, 0u);
      next = piece.first + piece.count;
      EXPECT_LE(next, bounds.size());
    }
  }
}

TEST(OffsetFit, BoundsAtTheEndsOfTimeDoNotOverflow) {
  constexpr std::int64_t kFar = std::int64_t{1} << 61;
  const std::vector<OffsetBound> bounds{
      {-kFar, -kFar, false}, {-kFar, kFar, true}, {kFar, -kFar, false}, {kFar, kFar, true}};
  ASSERT_EQ(fit_offset(bounds, kMaxRate).size(), 1u);
}

}  // namespace
}  // namespace lockstep::analyzer
