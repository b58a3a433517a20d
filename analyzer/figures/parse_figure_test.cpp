#include "analyzer/figures/parse_figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

TEST(ParseFigure, WithItsUnit) {
  EXPECT_DOUBLE_EQ(parse_figure("412 ms", Unit::nanoseconds).value(), 412e6);
  EXPECT_DOUBLE_EQ(parse_figure(" 1.5s ", Unit::nanoseconds).value(), 1.5e9);
  EXPECT_DOUBLE_EQ(parse_figure("20 µs", Unit::nanoseconds).value(), 20e3);
  EXPECT_DOUBLE_EQ(parse_figure("86 %", Unit::share).value(), 0.86);
  EXPECT_DOUBLE_EQ(parse_figure("0.86", Unit::share).value(), 0.86);
  EXPECT_DOUBLE_EQ(parse_figure("500 MB/s", Unit::gigabytes_per_second).value(), 0.5);
  EXPECT_DOUBLE_EQ(parse_figure("2 GB", Unit::bytes).value(), 2e9);
  EXPECT_DOUBLE_EQ(parse_figure("2.4 /s", Unit::per_second).value(), 2.4);
  EXPECT_DOUBLE_EQ(parse_figure("7", Unit::count).value(), 7);
  EXPECT_DOUBLE_EQ(parse_figure("-3 ms", Unit::nanoseconds).value(), -3e6);
}

TEST(ParseFigure, AnythingElseSaysWhatToWrite) {
  for (const char* wrong : {"", "ms", "412 parsecs", "nan", "inf ms", "4 12 ms", "412 GB"})
    EXPECT_FALSE(parse_figure(wrong, Unit::nanoseconds).ok()) << wrong;
  EXPECT_EQ(parse_figure("fast", Unit::nanoseconds).error().message,
            "'fast' is no figure; write for instance \"412 ms\"");
  EXPECT_FALSE(parse_figure("7 %", Unit::count).ok());
  EXPECT_FALSE(parse_share("-3 %").ok());
  EXPECT_DOUBLE_EQ(parse_share("3 %").value(), 0.03);
}

}  // namespace
}  // namespace lockstep::analyzer
