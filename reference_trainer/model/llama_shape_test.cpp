#include "reference_trainer/model/llama_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::trainer {
namespace {

using ::testing::HasSubstr;

TEST(LlamaShape, UsualSizes) {
  EXPECT_EQ(usual_kv_heads(32), 8);
  EXPECT_EQ(usual_kv_heads(6), 3);
  EXPECT_EQ(usual_kv_heads(5), 5);
  EXPECT_EQ(usual_intermediate_size(192), 512);
  EXPECT_EQ(usual_intermediate_size(64), 176);  // 170.7
  for (int hidden = 1; hidden < 2000; ++hidden) {
    const int size = usual_intermediate_size(hidden);
    EXPECT_EQ(size % 16, 0);
    EXPECT_GE(3 * size, 8 * hidden);
    EXPECT_LT(3 * (size - 16), 8 * hidden);
    EXPECT_EQ(hidden % usual_kv_heads(hidden), 0);
  }
  const LlamaShape shape = llama_shape(64, 8, 0, 0).value();
  EXPECT_EQ(shape.kv_heads, 2);
  EXPECT_EQ(shape.intermediate, 176);
  EXPECT_EQ(shape.head_width(), 8);
  EXPECT_EQ(llama_shape(64, 8, 8, 100).value().intermediate, 100);
}

TEST(LlamaShape, WhatDoesNotDivideIsSaid) {
  EXPECT_THAT(llama_shape(100, 3, 0, 0).error().message,
              HasSubstr("--hidden 100 is not a multiple of --heads 3"));
  EXPECT_THAT(llama_shape(15, 3, 0, 0).error().message,
              HasSubstr("--hidden 15 / --heads 3: a head is 5 wide"));
  EXPECT_THAT(llama_shape(64, 8, 3, 0).error().message,
              HasSubstr("--heads 8 is not a multiple of --kv-heads 3"));
  EXPECT_THAT(llama_shape(64, 8, 16, 0).error().message, HasSubstr("--kv-heads 16"));
}

}  // namespace
}  // namespace lockstep::trainer
