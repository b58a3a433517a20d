#include "base/words.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {
namespace {

TEST(Words, StandBetweenSeparators) {
  EXPECT_EQ(join_words(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(join_words(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(join_words(std::vector<std::string_view>{"a", "b", "c"}, "; "), "a; b; c");
  EXPECT_EQ(join_words(std::vector<std::string>{"", "b"}, " "), " b") << "an empty word is one";
}

TEST(Words, TheLastOneMayHaveASeparatorOfItsOwn) {
  EXPECT_EQ(join_words(std::vector<std::string_view>{"a"}, ", ", " or "), "a");
  EXPECT_EQ(join_words(std::vector<std::string_view>{"a", "b"}, ", ", " or "), "a or b");
  EXPECT_EQ(join_words(std::vector<std::string_view>{"a", "b", "c"}, ", ", " or "), "a, b or c");
}

}  // namespace
}  // namespace lockstep
