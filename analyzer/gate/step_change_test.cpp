#include "analyzer/gate/step_change.h"

#include <gtest/gtest.h>

#include <map>

namespace lockstep::analyzer {
namespace {

// A run whose step is so many ns of each cause, of the others 1.
RunRecord run_of(const std::map<Cause, double>& times) {
  RunRecord run;
  for (std::size_t i = 0; i < kCauseCount; ++i) {
    const auto cause = static_cast<Cause>(i);
    run.figures.push_back({to_string(cause), "", times.contains(cause) ? times.at(cause) : 1});
  }
  return run;
}

TEST(StepChange, IsTheSumOfItsCausesAndTheGreatestComesFirst) {
  const std::vector<RunRecord> base{run_of({{Cause::compute, 100}, {Cause::transfer, 30}}),
                                    run_of({{Cause::compute, 102}, {Cause::transfer, 30}})};
  const std::vector<RunRecord> head{run_of({{Cause::compute, 103}, {Cause::barrier_wait, 41}})};
  const std::optional<StepChange> step = step_change(head, base);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->base_ns, 101 + 30 + 7);
  EXPECT_EQ(step->head_ns, 103 + 41 + 7);
  ASSERT_EQ(step->causes.size(), kCauseCount);
  EXPECT_EQ(step->causes[0].cause, Cause::barrier_wait);
  EXPECT_EQ(step->causes[0].change_ns(), 40);
  EXPECT_EQ(step->causes[1].cause, Cause::transfer);
  EXPECT_EQ(step->causes[1].change_ns(), -29);
  double sum = 0;
  for (const CauseChange& cause : step->causes) sum += cause.change_ns();
  EXPECT_EQ(sum, step->head_ns - step->base_ns);
}

TEST(StepChange, IsNotKnownWhereACauseIsNot) {
  const RunRecord whole = run_of({});
  RunRecord part = whole;
  part.figures.pop_back();
  EXPECT_TRUE(step_change(std::vector{whole}, std::vector{whole}));
  EXPECT_FALSE(step_change(std::vector{part}, std::vector{whole}));
  EXPECT_FALSE(step_change(std::vector{whole}, std::vector{whole, part}));
  EXPECT_FALSE(step_change(std::vector{whole}, std::vector<RunRecord>{}));
}

}  // namespace
}  // namespace lockstep::analyzer
