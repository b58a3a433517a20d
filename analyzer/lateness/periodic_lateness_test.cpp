// A rank that is late at regular intervals, and those that only seem to be.
#include "analyzer/lateness/periodic_lateness.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyzer/lateness/test_reports.h"

namespace lockstep::analyzer {
namespace {

// In each step rank 1 of four is late by this much.
std::optional<PeriodicLateness> of(const std::vector<std::int64_t>& late) {
  std::vector<std::vector<std::int64_t>> own;
  for (const std::int64_t ns : late) own.push_back({1000, 1000 + ns, 1000, 1000});
  const Report report = report_of_steps(own);
  return periodic_lateness(make_step_table(report));
}

TEST(PeriodicLateness, IsOnePeriodFromStepToStep) {
  const auto found = of({0, 0, 90, 3, 0, 0, 100, 0, 0, 0, 80, 5});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->period, 4);
  EXPECT_EQ(found->first, 102);
  EXPECT_EQ(found->worst, 106);
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
  EXPECT_FALSE(of({100, 0, 0, 100, 0, 0, 0, 100, 0, 0, 100, 0}).has_value());
}

TEST(PeriodicLateness, ARhythmThatBeginsOrEndsWithinTheRecordingIsNone) {
  EXPECT_FALSE(of({0, 0, 0, 0, 0, 100, 0, 100, 0, 100, 0, 100}).has_value())
      << "steps 101 would have been late";
  EXPECT_FALSE(of({100, 0, 100, 0, 100, 0, 100, 0, 0, 0, 0, 0}).has_value());
}

TEST(PeriodicLateness, LatenessBetweenMakesItNone) {
  EXPECT_FALSE(of({40, 40, 100, 40, 40, 100, 40, 40, 100, 40, 40, 100}).has_value());
}

// Another rank as late as this one, once: then such steps come by chance.
TEST(PeriodicLateness, IsOfOneRankAlone) {
  std::vector<std::vector<std::int64_t>> own(12, {1000, 1000, 1000, 1000});
  for (const std::size_t step : {2u, 6u, 10u}) own[step][1] = 1100;
  const Report alone = report_of_steps(own);
  ASSERT_TRUE(periodic_lateness(make_step_table(alone)).has_value());
  own[4][3] = 1090;
  const Report both = report_of_steps(own);
  EXPECT_FALSE(periodic_lateness(make_step_table(both)).has_value());
}

// Of two ranks and few steps, three late steps can be periodic by chance.
TEST(PeriodicLateness, HasToBeBeyondChance) {
  std::vector<std::vector<std::int64_t>> own(12, {1000, 1000});
  for (const std::size_t step : {2u, 6u, 10u}) own[step][1] = 1100;
  const Report report = report_of_steps(own);
  EXPECT_FALSE(periodic_lateness(make_step_table(report)).has_value());
}

TEST(ChanceOfPeriod, IsThatOfCountingAllChoices) {
  for (std::size_t steps = 3; steps <= 14; ++steps) {
    for (std::size_t times = 3; times <= 5; ++times) {
      std::size_t choices = 0, periodic = 0;
      for (unsigned chosen = 0; chosen < (1u << steps); ++chosen) {
        std::vector<std::size_t> places;
        for (std::size_t step = 0; step < steps; ++step)
          if ((chosen >> step & 1u) != 0) places.push_back(step);
        if (places.size() != times) continue;
        ++choices;
        const std::size_t period = places[1] - places[0];
        bool is = period >= 2 && places.front() < period && steps - 1 - places.back() < period;
        for (std::size_t i = 1; i < places.size(); ++i) is = is && places[i] - places[i - 1] == period;
        periodic += is ? 1 : 0;
      }
      if (choices == 0) continue;
      EXPECT_NEAR(chance_of_period(steps, times, 1),
                  static_cast<double>(periodic) / static_cast<double>(choices), 1e-9)
          << steps << " " << times;
      EXPECT_NEAR(chance_of_period(steps, times, 2) * static_cast<double>(1u << (times - 1)),
                  chance_of_period(steps, times, 1), 1e-9);
    }
  }
}

}  // namespace
}  // namespace lockstep::analyzer
