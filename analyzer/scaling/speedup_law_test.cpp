#include "analyzer/scaling/speedup_law.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::analyzer {
namespace {

std::vector<Capacity> measured(const SpeedupLaw& law, std::size_t sizes) {
  std::vector<Capacity> points;
  for (double n = 1; points.size() < sizes; n *= 2) points.push_back({n, law.at(n)});
  return points;
}

TEST(SpeedupLaw, IsFoundFromFiveSizesOn) {
  const SpeedupLaw truth{.contention = 0.02, .coherency = 0.0005};
  EXPECT_FALSE(speedup_law(measured(truth, 4)));
  const std::optional<SpeedupLaw> law = speedup_law(measured(truth, 5));
  ASSERT_TRUE(law);
  EXPECT_NEAR(law->contention, 0.02, 1e-9);
  EXPECT_NEAR(law->coherency, 0.0005, 1e-9);
  EXPECT_NEAR(law->worst_error, 0, 1e-9);
  EXPECT_NEAR(law->peak().value(), 44.27, 0.01);
  EXPECT_NEAR(law->at(1), 1, 1e-12);
}

TEST(SpeedupLaw, HasNoNegativeParameters) {
  std::vector<Capacity> perfect = measured({}, 6);
  const std::optional<SpeedupLaw> law = speedup_law(perfect);
  ASSERT_TRUE(law);
  EXPECT_NEAR(law->contention, 0, 1e-12);
  EXPECT_FALSE(law->peak());
  for (Capacity& size : perfect) size.capacity *= size.times_ranks > 1 ? 1.1 : 1;  // better than ideal
  const std::optional<SpeedupLaw> super = speedup_law(perfect);
  ASSERT_TRUE(super);
  EXPECT_GE(super->contention, 0);
  EXPECT_GE(super->coherency, 0);
}

}  // namespace
}  // namespace lockstep::analyzer
