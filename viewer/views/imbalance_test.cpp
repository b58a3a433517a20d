#include "viewer/views/imbalance.h"

#include <gtest/gtest.h>

#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer {
namespace {

// Ranks compute for 400, 400, 700 and 500 ns a step; the all-reduce ends 900 ns after the first compute.
TEST(Imbalance, TheIdealIsTheMeanOfComputeWithoutAnyWaiting) {
  const auto scene = scene_of(synthetic_job());
  const auto found = imbalance_of(*scene, 1);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->mean_compute_ns, 500);
  EXPECT_EQ(found->ideal_ns, 500);
  EXPECT_EQ(found->real_ns, kSyntheticStep);
  // (300 + 300 + 0 + 200) / 4 of waiting go.
  EXPECT_EQ(found->bars[0].total_ns - found->balanced_ns, 200);
  ASSERT_EQ(found->ranks.size(), 4u);
  EXPECT_EQ(found->ranks[2].parts[analyzer::Cause::compute], 700);
}

TEST(Imbalance, OfTheWholeRunAndOfAStepThatIsNotThere) {
  const auto scene = scene_of(synthetic_job());
  EXPECT_TRUE(imbalance_of(*scene, std::nullopt).has_value());
  EXPECT_FALSE(imbalance_of(*scene, 99).has_value());
}

}  // namespace
}  // namespace lockstep::viewer
