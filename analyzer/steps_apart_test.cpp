// Ranks whose optimizers step at different paces: steps of one number are no steps of the job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analyzer/model/job_builder.h"
#include "analyzer/model/warns_of.h"
#include "analyzer/report/text.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

constexpr Nanoseconds ms = 1'000'000;

// Two ranks, 40 rounds of 10 ms: rank 0 takes `steps_of_0` steps in each, rank 1 one, and both meet in an
// all-reduce behind them. Rank 1 computes for a third longer in each round.
Job local_steps(int steps_of_0) {
  JobBuilder job;
  std::int64_t number_0 = 0;
  for (int round = 0; round < 40; ++round) {
    const Nanoseconds begin = round * 10 * ms;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const int steps = rank == 0 ? steps_of_0 : 1;
      const Nanoseconds computed = begin + (rank == 0 ? 6 * ms : 8 * ms);
      for (int step = 0; step < steps; ++step) {
        const Nanoseconds from = begin + (computed - begin) * step / steps;
        const Nanoseconds to = begin + (computed - begin) * (step + 1) / steps;
        const bool is_last = step + 1 == steps;
        job.rank(rank).step(rank == 0 ? number_0++ : round, from, is_last ? begin + 10 * ms : to);
        job.rank(rank).compute(from, to).launched(from, from + 1);
      }
      job.rank(rank).all_reduce(computed, begin + 9 * ms).launched(computed, computed + 1);
    }
  }
  return job.build();
}

AnalysisOptions over(std::optional<std::int64_t> first, std::optional<std::int64_t> last) {
  AnalysisOptions options;
  options.steady = !first.has_value();
  options.first_step = first;
  options.last_step = last;
  return options;
}

// Seen of a healthy job: over the steps that both have, "rank 1 sleeps for 18.8 ms longer" was said of a rank
// that takes one step where the other one takes three.
TEST(StepsApart, NobodyIsJudgedBySteps) {
  for (const auto& options : {over({}, {}), over(1, 39)}) {
    const Report report = checked_analysis(local_steps(3), options).report;
    EXPECT_TRUE(warns_of(report.warnings, kStepsApart));
    EXPECT_FALSE(warns_of(report.warnings, "steps_differ"));
    EXPECT_FALSE(report.lateness.can_tell);
    EXPECT_FALSE(report.steady.has_value()) << "no step is warm-up";
    for (const Finding& finding : report.findings) {
      EXPECT_NE(finding.accuses, Accused::rank) << finding.title;
      EXPECT_NE(finding.accuses, Accused::link) << finding.title;
    }
    const std::string text = to_text(report, {});
    EXPECT_THAT(text, HasSubstr("Who is late can't be told: the ranks' steps do not go together"));
    EXPECT_THAT(text, HasSubstr("what is in step 119 of rank 0 is in step 39 of rank 1"));
  }
}

TEST(StepsApart, StepsOfOneNumberGoTogether) {
  const Report report = checked_analysis(local_steps(1), over({}, {})).report;
  EXPECT_FALSE(warns_of(report.warnings, kStepsApart));
  EXPECT_TRUE(report.lateness.can_tell);
  EXPECT_TRUE(report.steady.has_value());
}

}  // namespace
}  // namespace lockstep::analyzer
