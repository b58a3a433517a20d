#include "analyzer/diagnose/comparable_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Of each rank the numbers of its steps, 0 and up.
Report with_steps(const std::vector<int>& counts) {
  Report report;
  int most = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    RankReport& own = report.ranks.emplace_back();
    own.rank = static_cast<std::int32_t>(rank);
    own.measures.known = true;
    own.measures.window_ns = counts[rank];
    most = std::max(most, counts[rank]);
  }
  for (int step = 0; step < most; ++step) {
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      if (step >= counts[rank]) continue;
      StepReport& own = report.steps.emplace_back();
      own.step = step;
      own.rank = static_cast<std::int32_t>(rank);
      own.measures.known = true;
      own.measures.window_ns = 1;
    }
  }
  return report;
}

TEST(ComparableRanks, HaveFourFifthsOfTheSteps) {
  const Report report = with_steps({60, 48, 47, 0});
  EXPECT_THAT(comparable_ranks(report, 0), ElementsAre(1));
  EXPECT_THAT(comparable_ranks(report, 1), ElementsAre(0, 2));
  EXPECT_EQ(only_rank_with_steps(report), std::nullopt);
}

TEST(ComparableRanks, OfAServerWhoseWorkersHaveNoStepsThereAreNone) {
  const Report report = with_steps({60, 0, 0});
  EXPECT_THAT(comparable_ranks(report, 0), IsEmpty());
  EXPECT_EQ(only_rank_with_steps(report), 0);
  EXPECT_EQ(only_rank_with_steps(with_steps({60})), std::nullopt) << "it is no exception";
}

TEST(ComparableRanks, AStepWithoutFiguresIsNone) {
  Report report = with_steps({10, 10});
  for (StepReport& step : report.steps)
    if (step.rank == 1 && step.step < 3) step.measures.known = false;
  EXPECT_THAT(comparable_ranks(report, 0), IsEmpty());
  EXPECT_THAT(comparable_ranks(report, 1), ElementsAre(0));
}

TEST(ComparableRanks, WithoutStepsAWindowIsEnough) {
  Report report = with_steps({5, 3, 0});
  report.steps.clear();
  EXPECT_THAT(comparable_ranks(report, 0), ElementsAre(1));
  EXPECT_EQ(only_rank_with_steps(report), std::nullopt);
}

}  // namespace
}  // namespace lockstep::analyzer
