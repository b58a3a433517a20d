#include "tracer/protocol/clock.h"

#include <gtest/gtest.h>

#include <random>

namespace lockstep::tracer {
namespace {

ClockReading reading(std::uint64_t ticks, trace::Nanoseconds monotonic) {
  return {ticks, monotonic, 0, 0};
}

TEST(TickSource, TheCounterIsTakenOnlyWhereCpuAndKernelTrustIt) {
  EXPECT_EQ(choose_tick_source(true, "tsc"), TickSource::tsc);
  EXPECT_EQ(choose_tick_source(true, "kvm-clock"), TickSource::tsc);
  EXPECT_EQ(choose_tick_source(true, nullptr), TickSource::tsc);
  EXPECT_EQ(choose_tick_source(false, "tsc"), TickSource::monotonic);
  EXPECT_EQ(choose_tick_source(true, "hpet"), TickSource::monotonic);
  EXPECT_EQ(choose_tick_source(true, "acpi_pm"), TickSource::monotonic);
}

TEST(ClockConverter, ReadingsThemselvesAreExact) {
  ClockConverter clock;
  ASSERT_TRUE(clock.add(reading(1000, 5000)));
  ASSERT_TRUE(clock.add(reading(3500, 6000)));
  ASSERT_TRUE(clock.add(reading(6000, 7001)));
  EXPECT_EQ(clock.convert(1000), 5000);
  EXPECT_EQ(clock.convert(3500), 6000);
  EXPECT_EQ(clock.convert(6000), 7001);
}

TEST(ClockConverter, BetweenReadingsTheLineIsStraight) {
  ClockConverter clock;
  clock.add(reading(0, 1000));
  clock.add(reading(2'600'000, 1'001'000));  // 2.6 GHz
  EXPECT_NEAR(static_cast<double>(clock.convert(1'300'000)), 501'000, 1);
  EXPECT_NEAR(static_cast<double>(clock.convert(26)), 1010, 1);
}

TEST(ClockConverter, BeyondTheLastReadingTheLastLineGoesOn) {
  ClockConverter clock;
  clock.add(reading(100, 100));
  EXPECT_EQ(clock.convert(150), 150) << "before a second reading, a tick counts as a nanosecond";
  clock.add(reading(1100, 600));
  EXPECT_NEAR(static_cast<double>(clock.convert(2100)), 1100, 1);
  EXPECT_NEAR(static_cast<double>(clock.convert(0)), 50, 1) << "and before the first";
}

TEST(ClockConverter, ReadingsThatDoNotAdvanceAreIgnored) {
  ClockConverter clock;
  clock.add(reading(1000, 1000));
  EXPECT_FALSE(clock.add(reading(1000, 2000)));
  EXPECT_FALSE(clock.add(reading(2000, 1000)));
  EXPECT_FALSE(clock.add(reading(900, 900)));
  EXPECT_TRUE(clock.add(reading(2000, 2000)));
  EXPECT_EQ(clock.convert(1500), 1500);
}

TEST(ClockConverter, EqualClocksConvertToThemselves) {
  ClockConverter clock;
  const std::uint64_t start = 1'795'000'000'000'000'000;
  for (std::uint64_t i = 0; i < 5; ++i) {
    clock.add(reading(start + i * 200'000'000, static_cast<trace::Nanoseconds>(start + i * 200'000'000)));
  }
  EXPECT_EQ(clock.convert(start + 555'555'555), static_cast<trace::Nanoseconds>(start + 555'555'555));
}

// A counter whose rate wanders by up to 100 ppm between readings: converted times never decrease, and lie
// within a nanosecond of the exact line (in long double).
TEST(ClockConverter, NeverDecreasesAndStaysOnTheLineUnderDrift) {
  std::mt19937_64 random(11);
  ClockConverter clock;
  std::uint64_t ticks = 1'000'000'000'000;
  trace::Nanoseconds time = 77'000'000'000;
  clock.add(reading(ticks, time));
  trace::Nanoseconds last = time;
  for (int drain = 0; drain < 200; ++drain) {
    const std::uint64_t ticks_before = ticks;
    const trace::Nanoseconds time_before = time;
    const auto wander = static_cast<std::int64_t>(random() % 200) - 100;
    ticks += 520'000'000;
    time += 200'000'000 + wander * 200;
    ASSERT_TRUE(clock.add(reading(ticks, time)));
    std::uint64_t at = ticks_before;
    while (at < ticks) {
      const trace::Nanoseconds converted = clock.convert(at);
      const long double exact = static_cast<long double>(time_before) +
                                static_cast<long double>(at - ticks_before) *
                                    static_cast<long double>(time - time_before) / 520'000'000.0L;
      ASSERT_NEAR(static_cast<double>(static_cast<long double>(converted) - exact), 0, 1.001);
      ASSERT_GE(converted, last);
      last = converted;
      at += random() % 40'000'000;
    }
  }
}

TEST(ClockReading, ReadsAllClocksOfThisMachine) {
  for (const TickSource source : {TickSource::monotonic, detect_tick_source()}) {
    const ClockReading first = read_clocks(source);
    const ClockReading second = read_clocks(source);
    EXPECT_GT(second.ticks, first.ticks);
    EXPECT_GT(second.monotonic, first.monotonic);
    EXPECT_GT(first.realtime, 1'600'000'000'000'000'000);
  }
}

}  // namespace
}  // namespace lockstep::tracer
