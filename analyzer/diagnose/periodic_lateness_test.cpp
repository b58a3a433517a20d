// A rank that is late at regular intervals, and those that only seem to be.
#include "analyzer/diagnose/periodic_lateness.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::analyzer {
namespace {

// Steps 100, 101, …: in each an all-reduce in which the others wait this long for rank 1.
Report report_of_waits(const std::vector<std::int64_t>& waits) {
  Report report;
  std::int64_t step = 100;
  for (const std::int64_t ns : waits) {
    StepReport row;
    row.step = step;
    report.steps.push_back(row);
    CollectiveReport collective;
    collective.step = step++;
    collective.last_arriver = ns > 0 ? std::optional(1) : std::nullopt;
    collective.wait_ns = ns;
    report.collectives.push_back(collective);
  }
  return report;
}

std::optional<PeriodicLateness> of(const std::vector<std::int64_t>& waits, std::int32_t rank = 1) {
  return periodic_lateness(report_of_waits(waits), rank, [](const CollectiveReport&) { return true; });
}

TEST(PeriodicLateness, IsOnePeriodFromStepToStep) {
  const auto found = of({0, 90, 3, 0, 100, 0, 0, 80, 5});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->period, 3);
  EXPECT_EQ(found->first, 101);
  EXPECT_EQ(found->times, 3);
  EXPECT_EQ(found->late_ns, 90);
  EXPECT_EQ(found->otherwise_ns, 0);
}

TEST(PeriodicLateness, TwiceIsChance) {
  EXPECT_FALSE(of({0, 100, 0, 0, 100, 0, 0}).has_value());
}

TEST(PeriodicLateness, EveryStepIsPersistent) {
  EXPECT_FALSE(of({100, 100, 100, 100}).has_value());
}

TEST(PeriodicLateness, IrregularIntervalsAreNone) {
  EXPECT_FALSE(of({100, 0, 100, 0, 0, 100, 0}).has_value());
}

TEST(PeriodicLateness, ARhythmThatBeginsOrEndsWithinTheRecordingIsNone) {
  EXPECT_FALSE(of({0, 0, 0, 100, 0, 100, 0, 100}).has_value()) << "steps 101 would have been late";
  EXPECT_FALSE(of({100, 0, 100, 0, 100, 0, 0, 0}).has_value());
}

TEST(PeriodicLateness, LatenessBetweenMakesItNone) {
  EXPECT_FALSE(of({40, 100, 40, 100, 40, 100, 40}).has_value());
}

TEST(PeriodicLateness, IsOfTheRankAsked) {
  EXPECT_FALSE(of({0, 100, 0, 0, 100, 0, 0, 100, 0}, 0).has_value());
}

TEST(PeriodicLateness, CountsOnlyWhatItIsToldTo) {
  EXPECT_FALSE(
      periodic_lateness(report_of_waits({0, 100, 0, 0, 100, 0, 0, 100, 0}), 1, [](const CollectiveReport&) {
        return false;
      }).has_value());
}

}  // namespace
}  // namespace lockstep::analyzer
