#include "analyzer/lateness/clock_errors.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

TEST(ClockErrors, OfARankAloneIsNone) {
  Report report;
  EXPECT_TRUE(clock_errors(report).empty());
  report.ranks.emplace_back().rank = 3;
  EXPECT_TRUE(clock_errors(report).empty());
}

// Beside each pair looked at by itself.
TEST(ClockErrors, AreMediansOverPairs) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    Report report;
    const std::size_t count = 2 + random() % 9;
    const std::uint32_t domains = 1 + random() % 4;
    for (std::size_t i = 0; i < count; ++i) {
      RankReport& rank = report.ranks.emplace_back();
      rank.rank = static_cast<std::int32_t>(2 * i);
      rank.clock.domain = random() % domains;
      rank.clock.uncertainty_ns = random() % 5;
    }
    const auto errors = clock_errors(report);
    ASSERT_EQ(errors.size(), count);
    for (const RankReport& own : report.ranks) {
      std::vector<std::int64_t> pairs;
      for (const RankReport& other : report.ranks) {
        if (&other == &own) continue;
        pairs.push_back(other.clock.domain == own.clock.domain
                            ? 0
                            : own.clock.uncertainty_ns + other.clock.uncertainty_ns);
      }
      ASSERT_EQ(errors.at(own.rank), lower_median(pairs)) << "trial " << trial << ", rank " << own.rank;
    }
  }
}

}  // namespace
}  // namespace lockstep::analyzer
