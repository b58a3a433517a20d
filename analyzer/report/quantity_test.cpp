#include "analyzer/report/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace lockstep::analyzer {
namespace {

TEST(FormatDuration, HasThreeDigitsAndTheUnitThatSuits) {
  EXPECT_EQ(format_duration(0), "0");
  EXPECT_EQ(format_duration(1), "1 ns");
  EXPECT_EQ(format_duration(999), "999 ns");
  EXPECT_EQ(format_duration(1'000), "1.00 µs");
  EXPECT_EQ(format_duration(7'624'000), "7.62 ms");
  EXPECT_EQ(format_duration(13'006'000), "13.0 ms");
  EXPECT_EQ(format_duration(505'000), "505 µs");
  EXPECT_EQ(format_duration(1'250'000'000), "1.25 s");
  EXPECT_EQ(format_duration(4'211'000'000'000), "4,211 s");
}

TEST(FormatDuration, RoundsIntoTheNextUnitAndNeverToFourDigits) {
  EXPECT_EQ(format_duration(9'994), "9.99 µs");
  EXPECT_EQ(format_duration(9'995), "10.0 µs");
  EXPECT_EQ(format_duration(99'949), "99.9 µs");
  EXPECT_EQ(format_duration(99'950), "100 µs");
  EXPECT_EQ(format_duration(999'499), "999 µs");
  EXPECT_EQ(format_duration(999'500), "1.00 ms");
  EXPECT_EQ(format_duration(999'499'999'999), "999 s");
  EXPECT_EQ(format_duration(999'500'000'000), "1,000 s");
}

TEST(FormatDuration, TakesEveryInt64) {
  EXPECT_EQ(format_duration(-1'500), "-1.50 µs");
  EXPECT_EQ(format_duration(std::numeric_limits<std::int64_t>::max()), "9,223,372,037 s");
  EXPECT_EQ(format_duration(std::numeric_limits<std::int64_t>::min()), "-9,223,372,037 s");
}

TEST(FormatChange, HasASign) {
  EXPECT_EQ(format_change(20'000'000), "+20.0 ms");
  EXPECT_EQ(format_change(-1'250'000'000), "−1.25 s");
  EXPECT_EQ(format_change(0), "0");
  EXPECT_EQ(format_change(std::numeric_limits<std::int64_t>::min()), "−9,223,372,037 s");
  EXPECT_EQ(format_relative_change(400, 420), "+5.0 %");
  EXPECT_EQ(format_relative_change(400, 350), "−12.5 %");
  EXPECT_EQ(format_relative_change(100'000, 100'010), "+< 0.1 %");
  EXPECT_EQ(format_relative_change(100, 320), "3.2 times");
  EXPECT_EQ(format_relative_change(0, 320), "");
  EXPECT_EQ(format_relative_change(320, 320), "");
}

TEST(FormatShare, NeverRoundsToAWrongExtreme) {
  EXPECT_EQ(format_share(46'843, 48'542), "96.5 %");
  EXPECT_EQ(format_share(0, 5), "0.0 %");
  EXPECT_EQ(format_share(1, 1'000'000), "< 0.1 %");
  EXPECT_EQ(format_share(999'999, 1'000'000), "> 99.9 %");
  EXPECT_EQ(format_share(5, 5), "100.0 %");
  EXPECT_EQ(format_share(3, 2), "150.0 %");
}

TEST(FormatShare, OfNothingIsAbsentNotZero) {
  EXPECT_EQ(format_share(0, 0), kAbsent);
  EXPECT_EQ(format_share(std::nullopt), kAbsent);
  EXPECT_EQ(format_share(std::numeric_limits<double>::quiet_NaN()), kAbsent);
}

TEST(FormatBytesAndBandwidth, UsePowersOfAThousand) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(4'000'000), "4.00 MB");
  EXPECT_EQ(format_bytes(26'214'400), "26.2 MB");
  EXPECT_EQ(format_bytes(-1), kAbsent);
  EXPECT_EQ(format_bandwidth(12.34), "12.3 GB/s");
  EXPECT_EQ(format_bandwidth(0.416), "0.42 GB/s");
  EXPECT_EQ(format_bandwidth(0.1), "0.10 GB/s");
  EXPECT_EQ(format_bandwidth(0.0999), "99.9 MB/s");
  EXPECT_EQ(format_bandwidth(0.0059), "5.90 MB/s");
  EXPECT_EQ(format_bandwidth(0.000001), "< 0.01 MB/s");
  EXPECT_EQ(format_bandwidth(431.7), "432 GB/s");
  EXPECT_EQ(format_bandwidth(9.996), "10.0 GB/s");
  EXPECT_EQ(format_bandwidth(std::nullopt), kAbsent);
}

TEST(TwoDigits, AreAnEstimatesDigits) {
  EXPECT_EQ(two_digits(7), 7);
  EXPECT_EQ(two_digits(99), 99);
  EXPECT_EQ(two_digits(104), 100);
  EXPECT_EQ(two_digits(37'609), 38'000);
  EXPECT_EQ(two_digits(99'600), 100'000);
}

}  // namespace
}  // namespace lockstep::analyzer
