#include "analyzer/diagnose/late_words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "analyzer/diagnose/late_compute.h"

namespace lockstep::analyzer {
namespace {

// No operation for itself accounts for what was lost.
std::string words(std::int64_t waited_ns, std::int64_t lost_ns) {
  const Job job;
  const Report report;
  BlameReport blame;
  blame.blame_ns = waited_ns;
  blame.exposed_ns = lost_ns;
  return describe_waiting(report, blame, ScheduledWaits(job, report));
}

// "waited 1.43 s for it … 1.43 s of their time went by" was read as a contradiction.
TEST(LateWords, FiguresThatAreNearlyTheSameAreSaidOnce) {
  EXPECT_EQ(words(1'432'000'000, 1'426'000'000),
            "the others waited 1.43 s for it, and compute hid next to nothing of it");
  EXPECT_EQ(words(2'000'000'000, 1'984'000'000),
            "the others waited 2.00 s for it, and compute hid next to nothing of it")
      << "less than 1 %";
  EXPECT_EQ(words(2'000'000'000, 2'000'000'000),
            "the others waited 2.00 s for it, and compute hid none of it");
  EXPECT_EQ(
      words(2'000'000'000, 1'960'000'000),
      "the others waited 2.00 s for it, operation by operation; often in several at once, or while they "
      "computed or moved data: 1.96 s of their time went by with nothing else to do");
}

// "computes for 64.3 ms" was said of a rank that computed for 84.0 ms, of which its threads ran for 10.4 ms
// longer than the others'.
TEST(LateWords, WhatThreadsRanIsNotCalledAllThatARankComputes) {
  RankLateness late;
  late.cause_ns = 10'400'000;
  late.others_ns = 53'900'000;
  const LatePart whole{Cause::compute, 30'100'000, 53'900'000};
  const ComputeWords on_core = words_of_compute(late, whole, 10'400'000);
  EXPECT_EQ(on_core.longer, "for 10.4 ms longer on a core");
  EXPECT_EQ(
      on_core.in_a_step,
      "in a step it computes for 84.0 ms, the median of the others for 53.9 ms. Its threads ran for 10.4 ms of "
      "the difference, and no more is counted: the rest may be waiting for a core");
  // Judged by all that it computes, whether or not somebody looked at its threads.
  late.cause_ns = whole.ns;
  for (const std::optional<std::int64_t> ran :
       {std::optional<std::int64_t>(), std::optional<std::int64_t>(29'000'000)})
    EXPECT_EQ(words_of_compute(late, whole, ran).in_a_step,
              "in a step it computes for 84.0 ms, the median of the others for 53.9 ms");
  EXPECT_EQ(words_of_compute(late, whole, std::nullopt).longer, "55.8 % longer");
}

// "it spends 20.3 ms a step more by this cause" stood above a rank that computed for 14.1 ms longer.
TEST(LateWords, WhatThreadsRanLongerIsNotCalledTheCause) {
  LatenessReport lateness;
  lateness.steps = 59;
  RankLateness late;
  late.mean_ns = 20'300'000;
  late.share = 0.222;
  late.movement_ns = 2'740'000;
  EXPECT_TRUE(
      describe_time(lateness, late)
          .starts_with("over 59 steps it spends 20.3 ms a step more by this cause than the median of the "
                       "others, 22.2 % of a step; from block to block"));
  late.is_of_running = true;
  EXPECT_TRUE(
      describe_time(lateness, late)
          .starts_with("over 59 steps its training threads run 20.3 ms a step longer than those of the "
                       "median of the others, 22.2 % of a step; from block to block"));
}

}  // namespace
}  // namespace lockstep::analyzer
