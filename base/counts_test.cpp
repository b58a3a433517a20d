#include "base/counts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace lockstep {
namespace {

TEST(FormatCount, GroupsThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'000), "1,000");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_count(-1'234'567), "-1,234,567");
  EXPECT_EQ(format_count(-123), "-123");
  EXPECT_EQ(format_count(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
  EXPECT_EQ(format_count(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(FormatPlural, UsesSingularAndPlural) {
  EXPECT_EQ(format_plural(0, "rank"), "0 ranks");
  EXPECT_EQ(format_plural(1, "rank"), "1 rank");
  EXPECT_EQ(format_plural(1'000, "rank"), "1,000 ranks");
  EXPECT_EQ(format_plural(std::size_t{1}, "process was", "processes were"), "1 process was");
  EXPECT_EQ(format_plural(std::size_t{0}, "process was", "processes were"), "0 processes were");
  EXPECT_EQ(format_plural(std::uint64_t{1'234}, "event", "events"), "1,234 events");
}

TEST(FormatOrdinal, HasTheEndingsOfEnglish) {
  std::string all;
  for (const std::int64_t number : {1, 2, 3, 4, 10, 11, 12, 13, 21, 22, 23, 101, 111, 112, 113, 1'001})
    all += format_ordinal(number) + " ";
  EXPECT_EQ(all, "1st 2nd 3rd 4th 10th 11th 12th 13th 21st 22nd 23rd 101st 111th 112th 113th 1,001st ");
}

}  // namespace
}  // namespace lockstep
