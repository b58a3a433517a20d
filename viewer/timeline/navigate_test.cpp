#include "viewer/timeline/navigate.h"

#include <gtest/gtest.h>

#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

// Of each rank and step: compute (activity 2 · step), then an all-reduce (2 · step + 1) that rank 2 comes to
// last.
Item all_reduce(const View& view, std::uint32_t rank, std::uint32_t step) {
  return view.scene->find_activity(rank, 2 * step + 1).value();
}

TEST(Navigate, NeighboursStandOnTheSameRow) {
  const View view;
  const Item middle = all_reduce(view, 1, 1);
  EXPECT_EQ(neighbour(*view.scene, middle, 1), all_reduce(view, 1, 2));
  EXPECT_EQ(neighbour(*view.scene, middle, -1), all_reduce(view, 1, 0));
  EXPECT_FALSE(neighbour(*view.scene, all_reduce(view, 1, 0), -1).has_value());
  EXPECT_FALSE(neighbour(*view.scene, all_reduce(view, 1, 2), 1).has_value());
}

TEST(Navigate, WhoWaitsWasHeldUpByTheLastArriver) {
  const View view;
  EXPECT_EQ(held_up_by(*view.scene, all_reduce(view, 0, 1)), all_reduce(view, 2, 1));
}

TEST(Navigate, TheLastArriverThatNeverWaitedEndsTheChain) {
  const View view;
  EXPECT_FALSE(held_up_by(*view.scene, all_reduce(view, 2, 1)).has_value());
}

// Compute was held up by what its rank waited in before it.
TEST(Navigate, OtherThingsWereHeldUpByTheWaitBeforeThem) {
  const View view;
  const Item compute = view.scene->find_activity(0, 4).value();
  EXPECT_EQ(held_up_by(*view.scene, compute), all_reduce(view, 0, 1));
}

TEST(Navigate, WhatCameOfBeingLast) {
  const View view;
  const auto waited = held_up(*view.scene, all_reduce(view, 2, 1));
  ASSERT_TRUE(waited.has_value());
  EXPECT_EQ(*waited, all_reduce(view, 0, 1)) << "ranks 0 and 1 waited longest, alike; the first of them";
  // Of rank 2's compute: the next operation in which others waited for it.
  EXPECT_EQ(held_up(*view.scene, view.scene->find_activity(2, 2).value()), all_reduce(view, 2, 1));
  EXPECT_FALSE(held_up(*view.scene, all_reduce(view, 0, 2)).has_value()) << "nobody waited for rank 0";
}

}  // namespace
}  // namespace lockstep::viewer
