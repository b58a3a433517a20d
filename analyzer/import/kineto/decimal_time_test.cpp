#include "analyzer/import/kineto/decimal_time.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace lockstep::analyzer::kineto {
namespace {

constexpr auto kNothing = std::nullopt;

TEST(MicrosecondsToNs, ReadsWhatKinetoWrites) {
  EXPECT_EQ(microseconds_to_ns("0"), 0);
  EXPECT_EQ(microseconds_to_ns("52"), 52'000);
  EXPECT_EQ(microseconds_to_ns("156.777"), 156'777);
  EXPECT_EQ(microseconds_to_ns("4.96"), 4'960);
  EXPECT_EQ(microseconds_to_ns("68.0"), 68'000);
  EXPECT_EQ(microseconds_to_ns("-3"), -3'000);
  EXPECT_EQ(microseconds_to_ns(" 7.5 \n"), 7'500);
  EXPECT_EQ(microseconds_to_ns("\"7.5\""), 7'500);
}

// 19 digits: a double would give …5418000 or …5417856.
TEST(MicrosecondsToNs, KeepsEpochTimesExact) {
  EXPECT_EQ(microseconds_to_ns("1694128201435418"), 1'694'128'201'435'418'000);
  EXPECT_EQ(microseconds_to_ns("1694128201435417.999"), 1'694'128'201'435'417'999);
  EXPECT_EQ(microseconds_to_ns("4458676522690.655"), 4'458'676'522'690'655);
}

TEST(MicrosecondsToNs, RoundsToNearestTiesToEven) {
  EXPECT_EQ(microseconds_to_ns("0.0004"), 0);
  EXPECT_EQ(microseconds_to_ns("0.0005"), 0);
  EXPECT_EQ(microseconds_to_ns("0.00050000000000000000000000000000000000001"), 1);
  EXPECT_EQ(microseconds_to_ns("0.0006"), 1);
  EXPECT_EQ(microseconds_to_ns("0.0015"), 2);
  EXPECT_EQ(microseconds_to_ns("0.0025"), 2);
  EXPECT_EQ(microseconds_to_ns("0.0024999999999999999999999999999999999999"), 2);
  EXPECT_EQ(microseconds_to_ns("-0.0015"), -2);
  EXPECT_EQ(microseconds_to_ns("-0.0025"), -2);
  EXPECT_EQ(microseconds_to_ns("1.9995"), 2'000);
}

TEST(MicrosecondsToNs, ReadsExponents) {
  EXPECT_EQ(microseconds_to_ns("1e3"), 1'000'000);
  EXPECT_EQ(microseconds_to_ns("1.5E+2"), 150'000);
  EXPECT_EQ(microseconds_to_ns("25e-4"), 2);
  EXPECT_EQ(microseconds_to_ns("35e-4"), 4);
  EXPECT_EQ(microseconds_to_ns("0e999999999999999999999"), 0);
  EXPECT_EQ(microseconds_to_ns("1e-999999999999999999999"), 0);
  EXPECT_EQ(microseconds_to_ns("1e999999999999999999999"), kNothing);
}

TEST(MicrosecondsToNs, KnowsItsLimits) {
  EXPECT_EQ(microseconds_to_ns("9223372036854775.807"), INT64_MAX);
  EXPECT_EQ(microseconds_to_ns("9223372036854775.8074"), INT64_MAX);
  EXPECT_EQ(microseconds_to_ns("9223372036854775.8075"), kNothing);
  EXPECT_EQ(microseconds_to_ns("9223372036854775.808"), kNothing);
  EXPECT_EQ(microseconds_to_ns("-9223372036854775.808"), INT64_MIN);
  EXPECT_EQ(microseconds_to_ns("-9223372036854775.809"), kNothing);
  EXPECT_EQ(microseconds_to_ns("18446744073709551616"), kNothing);
  EXPECT_EQ(microseconds_to_ns("99999999999999999999999999999999999999"), kNothing);
}

TEST(MicrosecondsToNs, RejectsWhatIsNoNumber) {
  for (const char* text :
       {"",     " ",   "\"\"", "\"",       "-",    "+1",   ".5", "1.",    "1.e3",  "1e",  "1e+", "01",
        "0x10", "1 2", "NaN",  "Infinity", "null", "true", "{",  "12abc", "1.2.3", "--1", "1-",  "\"\"1\"\""})
    EXPECT_EQ(microseconds_to_ns(text), kNothing) << text;
}

// Oracle: the number as a fraction of 128-bit integers, rounded by its remainder.
TEST(MicrosecondsToNs, AgreesWithExactArithmetic) {
  std::mt19937_64 random(20240607);
  for (int round = 0; round < 200'000; ++round) {
    std::string whole = std::to_string(random() >> (random() % 64));
    if (whole.size() > 15) whole.resize(15);
    std::string fraction;
    for (std::uint64_t digits = random() % 8; digits > 0; --digits)
      fraction += static_cast<char>('0' + random() % 10);
    // Ties are rare among random digits: make some.
    if (fraction.size() == 4 && random() % 2 == 0) fraction[3] = '5';
    const bool negative = random() % 4 == 0;
    const std::string text = (negative ? "-" : "") + whole + (fraction.empty() ? "" : "." + fraction);

    __int128 numerator = 0, denominator = 1;
    for (const char c : whole + fraction) numerator = numerator * 10 + (c - '0');
    for (std::size_t i = 0; i < fraction.size(); ++i) denominator *= 10;
    numerator *= 1000;
    __int128 expected = numerator / denominator;
    const __int128 twice = 2 * (numerator % denominator);
    if (twice > denominator || (twice == denominator && expected % 2 == 1)) ++expected;
    const auto result = microseconds_to_ns(text);
    ASSERT_TRUE(result.has_value()) << text;
    ASSERT_TRUE(*result == (negative ? -expected : expected)) << text << " gave " << *result;
  }
}

TEST(WholeNumber, TakesWholeNumbersOnly) {
  EXPECT_EQ(whole_number("7"), 7);
  EXPECT_EQ(whole_number("\"7\""), 7);
  EXPECT_EQ(whole_number("7.000"), 7);
  EXPECT_EQ(whole_number("1e3"), 1000);
  EXPECT_EQ(whole_number("-1"), -1);
  EXPECT_EQ(whole_number("100e-2"), 1);
  EXPECT_EQ(whole_number("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(whole_number("9223372036854775808"), kNothing);
  EXPECT_EQ(whole_number("7.5"), kNothing);
  EXPECT_EQ(whole_number("5e-1"), kNothing);
  EXPECT_EQ(whole_number("1e-30"), kNothing);
  EXPECT_EQ(whole_number("seven"), kNothing);
}

}  // namespace
}  // namespace lockstep::analyzer::kineto
