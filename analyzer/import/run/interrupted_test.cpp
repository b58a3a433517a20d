#include "analyzer/import/run/interrupted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace lockstep::analyzer::run {
namespace {

using testing::ElementsAre;

constexpr Nanoseconds kSecond = 1'000'000'000;
constexpr Nanoseconds kNever = -(Nanoseconds{1} << 40);

trace::Collective operation(Nanoseconds begin, Nanoseconds end) {
  trace::Collective collective;
  collective.begin = begin;
  collective.end = end;
  return collective;
}

TEST(ClosedByInterruption, WhatWaitedLongAndEndedWithTheInterruptionOnly) {
  const std::vector<trace::Collective> operations{operation(0, kSecond / 100),
                                                  operation(kSecond, 41 * kSecond)};
  EXPECT_THAT(closed_by_interruption(operations, kNever, 40 * kSecond), ElementsAre(false, true));
  // The recorder noted it a little late.
  EXPECT_THAT(closed_by_interruption(operations, kNever, 41 * kSecond + kSecond / 2),
              ElementsAre(false, true));
  EXPECT_THAT(closed_by_interruption(operations, kNever, kUnknownTime), ElementsAre(false, false));
}

TEST(ClosedByInterruption, NotWhatEndedBeforeOrWentOnAfter) {
  const std::vector<trace::Collective> ended{operation(kSecond, 30 * kSecond)};
  EXPECT_THAT(closed_by_interruption(ended, kNever, 40 * kSecond), ElementsAre(false));
  // A program that catches the signal and goes on: it ended by itself.
  const std::vector<trace::Collective> went_on{operation(kSecond, 41 * kSecond),
                                               operation(42 * kSecond, 43 * kSecond)};
  EXPECT_THAT(closed_by_interruption(went_on, kNever, 40 * kSecond), ElementsAre(false, false));
}

TEST(ClosedByInterruption, NotWhatIsNoLongerThanOthersWere) {
  const std::vector<trace::Collective> long_ones{operation(0, 2 * kSecond),
                                                 operation(3 * kSecond, 21 * kSecond)};
  EXPECT_THAT(closed_by_interruption(long_ones, kNever, 20 * kSecond), ElementsAre(false, false))
      << "17 s, less than ten times 2 s";
  const std::vector<trace::Collective> short_one{operation(0, 4 * kSecond)};
  EXPECT_THAT(closed_by_interruption(short_one, kNever, 4 * kSecond), ElementsAre(false));
}

TEST(ClosedByInterruption, HowLongStartUpTookIsNoMeasure) {
  const std::vector<trace::Collective> operations{operation(0, 30 * kSecond),
                                                  operation(31 * kSecond, 31 * kSecond + 1000),
                                                  operation(32 * kSecond, 53 * kSecond)};
  EXPECT_THAT(closed_by_interruption(operations, 31 * kSecond, 52 * kSecond),
              ElementsAre(false, false, true));
  EXPECT_THAT(closed_by_interruption(operations, kNever, 52 * kSecond), ElementsAre(false, false, false));
}

TEST(ClosedByInterruption, TimesThatCannotBeAreLeftAlone) {
  const std::vector<trace::Collective> operations{operation(INT64_MIN, INT64_MAX), operation(9, 3)};
  EXPECT_THAT(closed_by_interruption(operations, kNever, 40 * kSecond), ElementsAre(false, false));
  EXPECT_THAT(closed_by_interruption(operations, kNever, INT64_MAX), ElementsAre(false, false));
}

}  // namespace
}  // namespace lockstep::analyzer::run
