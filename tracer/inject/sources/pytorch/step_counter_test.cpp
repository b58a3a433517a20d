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

// DiLoCo: an outer optimizer after ten steps of the inner one.
TEST(StepCounter, OneThatStepsLessOftenIsNeverWaitedFor) {
  for (const int inner : {9, 10, 100}) {
    StepCounter counter;
    std::int64_t next = 1;
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < inner; ++i) EXPECT_EQ(step(counter, 1), next++) << inner;
      EXPECT_EQ(step(counter, 2), std::nullopt) << inner;
    }
  }
}

// A critic that is trained alone at first, and stays the one that steps more often.
TEST(StepCounter, OneThatComesLateAndThenOftenIsWaitedFor) {
  StepCounter counter;
  std::int64_t next = 1;
  for (int i = 0; i < 25; ++i) EXPECT_EQ(step(counter, 1), next++);
  EXPECT_EQ(step(counter, 2), std::nullopt) << "it may be rare";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(step(counter, 1), next++);
  EXPECT_EQ(step(counter, 2), std::nullopt) << "the step was counted as over";
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(step(counter, 1), std::nullopt);
    EXPECT_EQ(step(counter, 2), next++);
  }
}

// The next stage of a training, which begins with an optimizer of its own; then the first one's again.
TEST(StepCounter, OneThatStepsAloneTakesTheOthersPlace) {
  StepCounter counter;
  std::int64_t next = 1;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(step(counter, 1), next++);
  for (const std::uint64_t optimizer : {2U, 1U, 2U}) {
    for (int i = 0; i < 8; ++i) EXPECT_EQ(step(counter, optimizer), std::nullopt);
    for (int i = 0; i < 12; ++i) EXPECT_EQ(step(counter, optimizer), next++);
  }
}

}  // namespace
}  // namespace lockstep::tracer::pytorch
