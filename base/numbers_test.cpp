#include "base/numbers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace lockstep {
namespace {

TEST(ParseNumber, TakesTheWholeText) {
  EXPECT_EQ(parse_number<int>("0"), 0);
  EXPECT_EQ(parse_number<int>("007"), 7);
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<double>("2.5"), 2.5);
  EXPECT_EQ(parse_number<double>("-1e3"), -1000);
  for (const char* text : {"", " ", " 1", "1 ", "+1", "1.5", "1,000", "0x10", "one", "-", "1\n"})
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << '"' << text << '"';
  EXPECT_EQ(parse_number<int>({}), std::nullopt);
  EXPECT_EQ(parse_number<int>(std::string_view("1\0", 2)), std::nullopt);
}

TEST(ParseNumber, TakesWhatFitsIntoTheType) {
  EXPECT_EQ(parse_number<std::int32_t>("2147483647"), 2'147'483'647);
  EXPECT_EQ(parse_number<std::int32_t>("2147483648"), std::nullopt);
  EXPECT_EQ(parse_number<std::int64_t>("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint64_t>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<double>("1e999"), std::nullopt);
  for (const char* text : {"inf", "-inf", "nan"}) EXPECT_EQ(parse_number<double>(text), std::nullopt) << text;
}

TEST(ParseNumber, TakesWhatIsWithinBounds) {
  EXPECT_EQ(parse_number<int>("0", 0), 0);
  EXPECT_EQ(parse_number<int>("-1", 0), std::nullopt);
  EXPECT_EQ(parse_number<int>("9", 1, 9), 9);
  EXPECT_EQ(parse_number<int>("10", 1, 9), std::nullopt);
}

TEST(TakeNumber, LeavesWhatStandsBehindIt) {
  std::string_view text = "12-ff:rest";
  EXPECT_EQ(take_number<int>(text), 12);
  EXPECT_EQ(text, "-ff:rest");
  text.remove_prefix(1);
  EXPECT_EQ(take_number<std::uint64_t>(text, 16), 255U);
  EXPECT_EQ(text, ":rest");
  EXPECT_EQ(take_number<int>(text), std::nullopt);
  EXPECT_EQ(text, ":rest");
}

TEST(TakeNumber, LeavesWhatDoesNotFit) {
  std::string_view text = "300 cats";
  EXPECT_EQ(take_number<std::uint8_t>(text), std::nullopt);
  EXPECT_EQ(text, "300 cats");
  EXPECT_EQ(take_number<int>(text), 300);
  text = "2.5 cores";
  EXPECT_EQ(take_number<double>(text), 2.5);
  EXPECT_EQ(text, " cores");
}

TEST(Digits, AreThoseOfAscii) {
  EXPECT_TRUE(is_digit('0') && is_digit('9'));
  EXPECT_FALSE(is_digit('/') || is_digit(':') || is_digit('a'));
  EXPECT_TRUE(all_digits("0123456789"));
  EXPECT_FALSE(all_digits("") || all_digits("-1") || all_digits("1 "));
}

}  // namespace
}  // namespace lockstep
