#include "base/near_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockstep {
namespace {

TEST(EditDistance, CountsLetters) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3U);
}

TEST(NearestName, IsWhatWasMeant) {
  const std::vector<std::string> names{"record", "analyze", "export"};
  EXPECT_EQ(nearest_name("recrod", names), "record");
  EXPECT_EQ(nearest_name("analyse", names), "analyze");
  EXPECT_EQ(nearest_name("ex", names), "export");
  EXPECT_EQ(nearest_name("x", names), std::nullopt);
  EXPECT_EQ(nearest_name("something else", names), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(100, 'r'), names), std::nullopt);
}

}  // namespace
}  // namespace lockstep
