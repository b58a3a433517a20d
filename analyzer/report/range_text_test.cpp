#include "analyzer/report/range_text.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

TEST(ParseTime, KnowsUnitsAndFractionsExactly) {
  EXPECT_EQ(parse_time("1200").value(), 1'200);
  EXPECT_EQ(parse_time("1.5ms").value(), 1'500'000);
  EXPECT_EQ(parse_time("0.000000001s").value(), 1);
  EXPECT_EQ(parse_time("12.345678901s").value(), 12'345'678'901);
  EXPECT_EQ(parse_time("3µs").value(), 3'000);
  EXPECT_EQ(parse_time("3us").value(), 3'000);
  EXPECT_EQ(parse_time("-2.50ms").value(), -2'500'000);
  EXPECT_EQ(parse_time("9223372036854775807").value(), 9'223'372'036'854'775'807);
}

TEST(ParseTime, RefusesWhatItWouldHaveToGuess) {
  for (const char* text : {"", "ms", "1.2.3ms", "1.5", "1,5ms", "5 ms", "1h", ".5ms", "5.ms",
                           "9223372036854775808", "1e3", "--1"}) {
    const Result<Nanoseconds> time = parse_time(text);
    ASSERT_FALSE(time.ok()) << text;
    EXPECT_NE(time.error().message.find("'" + std::string(text) + "'"), std::string::npos)
        << time.error().message;
  }
}

TEST(ParseRange, CountsFromTheOrigin) {
  const Result<TimeSpan> range = parse_range("1ms:2.5ms", 100);
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range.value().begin, 1'000'100);
  EXPECT_EQ(range.value().end, 2'500'100);
}

TEST(ParseRange, RefusesEmptyAndBackwardRanges) {
  for (const char* text : {"5ms", "5ms:5ms", "6ms:5ms", ":5ms", "5ms:", "a:b"})
    EXPECT_FALSE(parse_range(text, 0).ok()) << text;
  EXPECT_EQ(parse_range("5ms:5ms", 0).error().message,
            "the range '5ms:5ms' is empty: it ends where it begins");
  EXPECT_EQ(parse_range("6ms:5ms", 0).error().message, "the range '6ms:5ms' ends before it begins");
}

}  // namespace
}  // namespace lockstep::analyzer
