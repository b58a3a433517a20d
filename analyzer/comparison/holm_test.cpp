#include "analyzer/comparison/holm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace lockstep::analyzer {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(Holm, StepsDown) {
  // 0.01 · 4, 0.02 · 3, then never less than what came before.
  EXPECT_THAT(holm(std::vector<WeightedChance>{{0.02}, {0.01}, {0.021}, {0.9}}),
              ElementsAre(DoubleNear(0.06, 1e-12), DoubleNear(0.04, 1e-12), DoubleNear(0.06, 1e-12),
                          DoubleNear(0.9, 1e-12)));
  EXPECT_THAT(holm({}), ElementsAre());
  EXPECT_THAT(holm(std::vector<WeightedChance>{{0.03}}), ElementsAre(0.03));
  EXPECT_THAT(holm(std::vector<WeightedChance>{{0.6}, {0.7}}), ElementsAre(1.0, 1.0));
}

TEST(Holm, AWeightyFigureNeedsLess) {
  const std::vector<double> adjusted = holm(std::vector<WeightedChance>{{0.02, 3}, {0.02, 1}});
  EXPECT_NEAR(adjusted[0], 0.02 * 4 / 3, 1e-12);
  EXPECT_NEAR(adjusted[1], 0.02 * 4 / 3, 1e-12);  // what is left has all the rate, but not less than before
}

// Six healthy figures, each with a uniform chance: at 5 % one of a policy in twenty alarms, however the
// weights are.
TEST(Holm, KeepsTheRateOfAllTogether) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform;
  int alarms = 0;
  constexpr int kPolicies = 20000;
  for (int policy = 0; policy < kPolicies; ++policy) {
    std::vector<WeightedChance> figures;
    for (int i = 0; i < 6; ++i) figures.push_back({uniform(random), i < 2 ? 5.0 : 1.0});
    for (const double adjusted : holm(figures)) {
      if (adjusted > 0.05) continue;
      ++alarms;
      break;
    }
  }
  EXPECT_LT(alarms, 0.055 * kPolicies);
  EXPECT_GT(alarms, 0.04 * kPolicies);
}

}  // namespace
}  // namespace lockstep::analyzer
