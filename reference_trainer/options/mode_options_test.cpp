#include "reference_trainer/options/mode_options.h"

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

TEST(ModeOptions, EachTypeHasItsOwnAsItIsByDefault) {
  const ModeOptions untouched;
  EXPECT_EQ(untouched.get<One>().value, 7);
  EXPECT_EQ(untouched.get<Other>().value, 9);
}

TEST(ModeOptions, CopiesDoNotShare) {
  ModeOptions first;
  first.get<One>().value = 1;
  ModeOptions copy = first;
  copy.get<One>().value = 2;
  EXPECT_EQ(first.get<One>().value, 1);
  const ModeOptions moved = std::move(first);
  EXPECT_EQ(moved.get<One>().value, 1);
  EXPECT_EQ(moved.get<Other>().value, 9);
}

}  // namespace
}  // namespace lockstep::trainer
