// Held against counting all choices.
#include "analyzer/statistics/rank_sums.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace lockstep::analyzer {
namespace {

TEST(RankSums, AreThoseOfCountingAllChoices) {
  for (unsigned count = 1; count <= 12; ++count) {
    for (unsigned few = 1; few <= count; ++few) {
      for (std::int64_t sum = 0; sum <= 70; ++sum) {
        double choices = 0, lower = 0;
        for (unsigned chosen = 0; chosen < (1u << count); ++chosen) {
          if (static_cast<unsigned>(std::popcount(chosen)) != few) continue;
          std::int64_t places = 0;
          for (unsigned place = 0; place < count; ++place)
            if ((chosen >> place & 1u) != 0) places += place;
          ++choices;
          lower += places <= sum ? 1 : 0;
        }
        ASSERT_NEAR(chance_of_rank_sum(count, few, sum), lower / choices, 1e-9)
            << count << " " << few << " " << sum;
      }
    }
  }
}

TEST(RankSums, OfTheHighestIsOneChoiceOfAll) {
  EXPECT_NEAR(chance_of_rank_sum(50, 5, 10), 1 / 2'118'760.0, 1e-15);
  EXPECT_NEAR(chance_of_rank_sum(50, 5, 11), 2 / 2'118'760.0, 1e-15);
}

// Where choices are too many to count: half of all sums lie below the mean, and one in 741 three deviations
// below.
TEST(RankSums, OfManyAreNormal) {
  const double mean = 400 * 3999 / 2.0, deviation = std::sqrt(400.0 * 3600 * 4001 / 12);
  EXPECT_NEAR(chance_of_rank_sum(4000, 400, std::llround(mean)), 0.5, 1e-3);
  EXPECT_NEAR(chance_of_rank_sum(4000, 400, std::llround(mean - 3 * deviation)), 1 / 740.8, 1e-5);
}

}  // namespace
}  // namespace lockstep::analyzer
