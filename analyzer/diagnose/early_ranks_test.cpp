// Ranks that have less to do in every step.
#include "analyzer/diagnose/early_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "analyzer/diagnose/job_lateness.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;

// All reduce when the last has computed; 20 steps.
std::optional<EarlyRanks> early_of(int ranks, const std::function<int(int rank, int step)>& compute_us,
                                   const std::function<int(int rank, int step)>& loads_us = {}) {
  JobBuilder job;
  for (int step = 0; step < 20; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (int rank = 0; rank < ranks; ++rank) {
      const Nanoseconds loaded = begin + (loads_us ? loads_us(rank, step) : 0) * us;
      const Nanoseconds end = loaded + compute_us(rank, step) * us;
      RankBuilder& builder = job.rank(rank);
      builder.step(step, begin, begin + 990 * us).compute(loaded, end).launched(begin, begin + 1);
      if (loaded > begin) builder.data_loading(begin, loaded);
      builder.all_reduce(end, begin + 900 * us).launched(begin, begin + 2);
    }
  }
  const Job built = job.build();
  const Report report = report_of(built);
  return early_ranks(table_of_steps(built, report));
}

TEST(EarlyRanks, AreThoseThatComputeLessInEveryStep) {
  const auto one = early_of(5, [](int rank, int step) { return rank == 1 ? 500 : 850 + (rank + step) % 5; });
  ASSERT_TRUE(one.has_value());
  EXPECT_THAT(one->ranks, ElementsAre(1));
  EXPECT_EQ(one->compute_ns, 500 * us);
  EXPECT_EQ(one->others_ns, 852 * us);
  EXPECT_GT(3 * one->waited_ns, 2 * one->all_ns);
  const auto two = early_of(5, [](int rank, int) { return rank >= 3 ? 500 : 880; });
  ASSERT_TRUE(two.has_value());
  EXPECT_THAT(two->ranks, ElementsAre(3, 4));
}

TEST(EarlyRanks, AreNeitherHalfOfAllNorOneOfTwo) {
  EXPECT_FALSE(early_of(4, [](int rank, int) { return rank >= 2 ? 500 : 880; }).has_value());
  EXPECT_FALSE(early_of(2, [](int rank, int) { return rank == 1 ? 500 : 880; }).has_value());
}

TEST(EarlyRanks, AreNotThoseOfSomeStepsOnly) {
  EXPECT_FALSE(
      early_of(5, [](int rank, int step) { return rank == 1 && step % 4 > 0 ? 500 : 880; }).has_value());
}

// The others load longer, and compute the same.
TEST(EarlyRanks, HaveToComputeLess) {
  EXPECT_FALSE(early_of(
                   5, [](int, int) { return 500; }, [](int rank, int) { return rank == 1 ? 0 : 350; })
                   .has_value());
}

}  // namespace
}  // namespace lockstep::analyzer
