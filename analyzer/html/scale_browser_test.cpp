// Where the scale of the steps' lengths ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analyzer/html/test_browser.h"
#include "analyzer/report/sample_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

// The sample's step 7 takes three times as long as the others: less than what would flatten them.
TEST_F(Browser, OneSlowStepIsClippedWhereItWouldFlattenTheOthers) {
  Report report = long_report(40);
  EXPECT_EQ(section(document_of(report), "steps").find("class=\"clipped\""), std::string::npos);
  for (StepReport& step : report.steps)
    if (step.step == 7) step.measures = report.ranks[0].measures;
  const std::string document = document_of(report);
  EXPECT_THAT(document, Not(HasSubstr("data-error")));
  EXPECT_THAT(section(document, "steps"), HasSubstr("class=\"clipped\""));
}

// As with --all-steps: warm-up and checkpoints among the steps.
TEST_F(Browser, UpToAThirdOfTheStepsAreClippedWhereTheyWouldFlattenTheOthers) {
  const auto with_slow_steps = [this](std::int64_t slow) {
    Report report = long_report(42);
    for (StepReport& step : report.steps)
      if (step.step % 2 == 0 && step.step < 2 * slow) step.measures = report.ranks[0].measures;
    return section(document_of(report), "steps");
  };
  const std::string third = with_slow_steps(13);
  EXPECT_THAT(third, HasSubstr("class=\"clipped\""));
  EXPECT_THAT(words(third), HasSubstr("13 steps are longer than the scale"));
  EXPECT_THAT(words(third), HasSubstr("30.0"))
      << "step 7, the longest of the others, is the end of the scale";
  const std::string half = with_slow_steps(20);
  EXPECT_THAT(half, Not(HasSubstr("class=\"clipped\""))) << "so many are no outliers";
}

// Two to three times as long as the others is no outlier by its length; that it is a checkpoint is known.
TEST_F(Browser, StepsThatAreNoSteadyTrainingSetNoScale) {
  Report report = long_report(40);
  for (const std::int64_t step : {0, 20}) {
    Measures& measures = report.steps[static_cast<std::size_t>(step)].measures;
    measures.partition[Cause::compute] += 15'000'000;
    measures.window_ns += 15'000'000;
  }
  std::erase_if(report.steps, [](const StepReport& step) { return step.step == 7; });  // as long as these
  EXPECT_THAT(section(document_of(report), "steps"), Not(HasSubstr("class=\"clipped\"")));
  report.not_steady = {0, 20};
  const std::string document = document_of(report, "", "chosen.measure = 'window'; drawHeat();");
  EXPECT_THAT(document, Not(HasSubstr("data-error")));
  EXPECT_THAT(words(section(document, "steps")), HasSubstr("2 steps are longer than the scale"));
  EXPECT_THAT(words(section(document, "heat")), HasSubstr("2 cells lie above the scale"));
  report.not_steady = report.steps_present;  // of nothing else
  EXPECT_THAT(section(document_of(report), "steps"), Not(HasSubstr("class=\"clipped\"")));
}

}  // namespace
}  // namespace lockstep::analyzer
