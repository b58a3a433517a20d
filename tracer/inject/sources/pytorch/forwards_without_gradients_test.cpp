// Forward passes without gradients: which of them are an evaluation.
#include "tracer/inject/sources/pytorch/forwards_without_gradients.h"

#include <gtest/gtest.h>

namespace lockstep::tracer::pytorch {
namespace {

constexpr trace::Nanoseconds kMs = 1'000'000;

// Passes without gradients of 2 ms each, with 3 ms between their begins.
void evaluate(ForwardsWithoutGradients& passes, int count, trace::Nanoseconds begin) {
  for (int i = 0; i < count; ++i) {
    passes.forward(false, begin + 3 * kMs * i);
    passes.part_is_over(begin + 3 * kMs * i + 2 * kMs);
  }
}

TEST(ForwardsWithoutGradients, OneAfterTheOtherAreAnEvaluation) {
  ForwardsWithoutGradients passes;
  passes.forward(true, 0);
  passes.train();
  evaluate(passes, 3, 10 * kMs);
  EXPECT_FALSE(passes.take()) << "it may go on";
  passes.forward(true, 30 * kMs);
  const auto evaluation = passes.take();
  ASSERT_TRUE(evaluation);
  EXPECT_EQ(evaluation->begin, 10 * kMs);
  EXPECT_EQ(evaluation->end, 18 * kMs);
  EXPECT_FALSE(passes.take());
}

TEST(ForwardsWithoutGradients, ATeachersPassInEachStepIsNone) {
  ForwardsWithoutGradients passes;
  for (int step = 0; step < 5; ++step) {
    evaluate(passes, 1, 10 * kMs * step);
    passes.forward(true, 10 * kMs * step + 4 * kMs);
    passes.train();
    EXPECT_FALSE(passes.take());
  }
}

TEST(ForwardsWithoutGradients, BeforeTrainingNothingIsEvaluated) {
  ForwardsWithoutGradients passes;
  evaluate(passes, 5, 0);
  passes.forward(true, 50 * kMs);
  EXPECT_FALSE(passes.take());
}

TEST(ForwardsWithoutGradients, TheLastEvaluationEndsWithItsLastPass) {
  ForwardsWithoutGradients passes;
  passes.train();
  evaluate(passes, 2, 10 * kMs);
  passes.finish();
  ASSERT_TRUE(passes.take());
}

TEST(ForwardsWithoutGradients, WhatIsShortIsNoCost) {
  ForwardsWithoutGradients passes;
  passes.train();
  for (const trace::Nanoseconds begin : {10, 20}) {
    passes.forward(false, begin);
    passes.part_is_over(begin + 5);
  }
  passes.train();
  EXPECT_FALSE(passes.take());
}

}  // namespace
}  // namespace lockstep::tracer::pytorch
