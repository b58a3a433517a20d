#include "tracer/inject/sources/pytorch/step_counter.h"

#include <gtest/gtest.h>

#include <optional>

namespace lockstep::tracer::pytorch {
namespace {

std::optional<std::int64_t> step(StepCounter& counter, std::uint64_t optimizer) {
  counter.begin_optimizer(optimizer);
  return counter.end_optimizer();
}

TEST(StepCounter, OneOptimizer) {
  StepCounter counter;
  for (std::int64_t next = 1; next <= 5; ++next) EXPECT_EQ(step(counter, 7), next);
}

TEST(StepCounter, SeveralAreOneStepOnceTheyAreKnown) {
  StepCounter counter;
  EXPECT_EQ(step(counter, 1), 1);
  EXPECT_EQ(step(counter, 2), 1) << "the first step was not over";
  EXPECT_EQ(step(counter, 3), 1);
  for (std::int64_t next = 2; next <= 4; ++next) {
    EXPECT_EQ(step(counter, 1), std::nullopt);
    EXPECT_EQ(step(counter, 2), std::nullopt);
    EXPECT_EQ(step(counter, 3), next);
  }
}

TEST(StepCounter, OneThatStepsAgainBeforeAllHaveChangesNothing) {
  StepCounter counter;
  step(counter, 1);
  step(counter, 2);
  EXPECT_EQ(step(counter, 1), std::nullopt);
  EXPECT_EQ(step(counter, 1), std::nullopt);
  EXPECT_EQ(step(counter, 2), 2);
}

// A GAN whose critic steps five times as often as its generator.
TEST(StepCounter, OneThatStepsMoreOftenMakesNoStepsOfItsOwn) {
  StepCounter counter;
  for (std::int64_t next = 1; next <= 5; ++next)
    EXPECT_EQ(step(counter, 1), next) << "the other one is not known yet";
  EXPECT_EQ(step(counter, 2), 5);
  for (std::int64_t next = 6; next <= 9; ++next) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(step(counter, 1), std::nullopt);
    EXPECT_EQ(step(counter, 2), next);
  }
}

TEST(StepCounter, OneThatStepsNoMoreIsWaitedForOnce) {
  StepCounter counter;
  step(counter, 1);
  step(counter, 2);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(step(counter, 1), std::nullopt);
  for (std::int64_t next = 2; next <= 5; ++next) EXPECT_EQ(step(counter, 1), next);
  EXPECT_EQ(step(counter, 2), std::nullopt) << "once in a while: no step of its own";
  EXPECT_EQ(step(counter, 1), 6);
}

}  // namespace
}  // namespace lockstep::tracer::pytorch
