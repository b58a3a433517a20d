#include "base/number_lists.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep {
namespace {

using Numbers = std::vector<std::int32_t>;

TEST(ListNumbers, NamesAllOrTheFirst) {
  EXPECT_EQ(list_numbers(Numbers{}, 3), "");
  EXPECT_EQ(list_numbers(Numbers{7}, 3), "7");
  EXPECT_EQ(list_numbers(Numbers{0, 5, 2}, 3), "0, 5, 2");
  EXPECT_EQ(list_numbers(Numbers{0, 1, 2, 3}, 3), "0, 1, 2, …");
}

TEST(NumberRanges, NameNeighboursByTheirEnds) {
  EXPECT_EQ(number_ranges(Numbers{}), "");
  EXPECT_EQ(number_ranges(Numbers{4}), "4");
  EXPECT_EQ(number_ranges(Numbers{0, 1}), "0–1");
  EXPECT_EQ(number_ranges(Numbers{0, 1, 2, 3, 7}), "0–3, 7");
  EXPECT_EQ(number_ranges(Numbers{1, 3, 5, 6}, "-"), "1, 3, 5-6");
}

}  // namespace
}  // namespace lockstep
