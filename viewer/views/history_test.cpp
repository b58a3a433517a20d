#include "viewer/views/history.h"

#include <gtest/gtest.h>

#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer {
namespace {

class History : public testing::Test {
 protected:
  void go(Nanoseconds begin, double seconds) {
    state_.view.begin = begin;
    history_.note(state_, seconds);
  }
  std::unique_ptr<Scene> scene_ = scene_of(synthetic_job());
  TimelineState state_{scene_->timeline()};
  ViewHistory history_;
};

TEST_F(History, GoesBackPlaceByPlace) {
  go(0, 0);
  go(100, 10);
  go(200, 20);
  ASSERT_TRUE(history_.back(state_));
  EXPECT_EQ(state_.view.begin, 100);
  ASSERT_TRUE(history_.back(state_));
  EXPECT_EQ(state_.view.begin, 0);
  EXPECT_FALSE(history_.back(state_));
  EXPECT_EQ(state_.view.begin, 0);
}

TEST_F(History, OneMovementIsOnePlace) {
  go(0, 0);
  for (int i = 1; i <= 50; ++i) go(i, 10 + i * 0.016);
  go(900, 20);
  ASSERT_TRUE(history_.back(state_));
  EXPECT_EQ(state_.view.begin, 50) << "where the movement ended";
  ASSERT_TRUE(history_.back(state_));
  EXPECT_EQ(state_.view.begin, 0);
}

TEST_F(History, WhatDoesNotMoveLeavesNothing) {
  for (int i = 0; i < 100; ++i) go(7, i);
  EXPECT_EQ(history_.size(), 1u);
}

TEST_F(History, HasAnEnd) {
  for (int i = 0; i < 1000; ++i) go(i, i * 10.0);
  EXPECT_LE(history_.size(), 200u);
}

}  // namespace
}  // namespace lockstep::viewer
