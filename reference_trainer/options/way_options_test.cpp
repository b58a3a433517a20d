#include "reference_trainer/options/way_options.h"

#include <gtest/gtest.h>

#include <utility>

namespace lockstep::trainer {
namespace {

struct One {
  int value = 7;
};
struct Other {
  int value = 9;
};

TEST(WayOptions, EachTypeHasItsOwnAsItIsByDefault) {
  const WayOptions untouched;
  EXPECT_EQ(untouched.get<One>().value, 7);
  EXPECT_EQ(untouched.get<Other>().value, 9);
}

TEST(WayOptions, CopiesDoNotShare) {
  WayOptions first;
  first.get<One>().value = 1;
  WayOptions copy = first;
  copy.get<One>().value = 2;
  EXPECT_EQ(first.get<One>().value, 1);
  const WayOptions moved = std::move(first);
  EXPECT_EQ(moved.get<One>().value, 1);
  EXPECT_EQ(moved.get<Other>().value, 9);
}

}  // namespace
}  // namespace lockstep::trainer
