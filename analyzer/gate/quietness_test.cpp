#include "analyzer/gate/quietness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/figures/figures.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

std::vector<RunRecord> runs(const std::vector<double>& step_times) {
  std::vector<RunRecord> all;
  for (const double ms : step_times) {
    RunRecord run;
    run.path = "run";
    run.start_ns = static_cast<std::int64_t>(all.size());
    run.setting = {.world_size = 2, .hosts = 1, .devices = {"cpu"}};
    run.figures = {{"step_time", "", ms * 1e6}, {"dropped_events", "", 0}};
    all.push_back(run);
  }
  return all;
}

Policy policy_of(const char* figure) {
  return {.source = "gate.toml",
          .rules = {{.figure = find_figure_kind(figure),
                     .scope = "",
                     .bound = std::nullopt,
                     .tolerance = {.relative = 0.03}}},
          .expected = {}};
}

FigureQuietness of(const std::vector<double>& step_times, const Policy& policy = policy_of("step_time")) {
  const auto all = quietness(policy, runs(step_times));
  EXPECT_TRUE(all.ok()) << all.error().message;
  return all.value().front();
}

TEST(Quietness, TellsWhatFewRunsLeaveOpen) {
  const FigureQuietness quiet = of({1200, 1202, 1198});
  EXPECT_EQ(quiet.quiet, Quiet::yes);
  EXPECT_NEAR(*quiet.most_deviation, 4.415 * 2e6, 1e4);
  EXPECT_EQ(quietness_text(quiet), "settled, also at ± 8.83 ms, the most that 3 runs leave open");
  // Two that agree as well may do so by chance.
  const FigureQuietness two = of({1200, 1202});
  EXPECT_EQ(two.quiet, Quiet::unclear);
  EXPECT_GT(two.chance, 0.99);
  EXPECT_LT(two.least_chance, 0.3);
  EXPECT_EQ(two.runs_enough, 3U);
  EXPECT_THAT(quietness_text(two), HasSubstr("the most that 2 runs leave open; 3 runs a side would do"));
  const FigureQuietness one = of({1200});
  EXPECT_EQ(one.quiet, Quiet::unclear);
  EXPECT_FALSE(one.most_deviation);
  EXPECT_THAT(quietness_text(one), HasSubstr("one run does not tell"));
}

TEST(Quietness, SaysWhatIsNotQuiet) {
  const FigureQuietness noisy = of({1200, 1400, 1100});
  EXPECT_EQ(noisy.quiet, Quiet::no);
  EXPECT_FALSE(noisy.runs_enough);
  EXPECT_THAT(quietness_text(noisy), HasSubstr("of 100 cases as these vary; a quieter machine would do"));
  EXPECT_EQ(of({1200}, policy_of("busbw")).quiet, Quiet::no);
  EXPECT_THAT(quietness_text(of({1200}, policy_of("busbw"))), HasSubstr("does not tell it"));
}

TEST(Quietness, OfWhatDoesNotVary) {
  EXPECT_EQ(of({1200, 1201}, policy_of("dropped_events")).quiet, Quiet::yes);
  EXPECT_EQ(quietness_text(of({1200}, policy_of("dropped_events"))), "settled") << "counted: no run differs";
  EXPECT_EQ(of({1200, 1200, 1200}).quiet, Quiet::yes);
}

// What a change is expected to cost is no matter of the runs that it is held to.
TEST(Quietness, IsNotAskedWhatIsExpected) {
  Policy expecting = policy_of("step_time");
  expecting.expected.push_back({"step_time", "", "checkpointing", "2999-12-31"});
  EXPECT_EQ(of({1200, 1202, 1198}, expecting).quiet, Quiet::yes);
}

}  // namespace
}  // namespace lockstep::analyzer
