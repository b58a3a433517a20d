#include "reference_trainer/faults/rank_faults.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockstep::trainer {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

FaultPlan plan(const std::string& specification) {
  return {{parse_fault(specification).value()}, 1};
}

TEST(RankFaults, NothingIsPlantedBeforeTheFirstStep) {
  RankFaults faults(plan("slow_link:mbit=8"), {});
  EXPECT_TRUE(faults.slows_links());
  EXPECT_EQ(faults.sending_time(1'000'000), 0ns);
  faults.begin_step(1);
  EXPECT_EQ(faults.sending_time(1'000'000), 1s);
}

TEST(RankFaults, LeavesOutOneCollectiveOfItsStep) {
  RankFaults faults(plan("skip_collective:rank=2,steps=3"), {.rank = 2});
  EXPECT_TRUE(faults.skips_collectives());
  for (int step = 1; step <= 4; ++step) {
    faults.begin_step(step);
    EXPECT_EQ(faults.skip_collective(), step == 3);
    EXPECT_FALSE(faults.skip_collective());
  }
  RankFaults other(plan("skip_collective:rank=2,steps=3"), {.rank = 1});
  other.begin_step(3);
  EXPECT_FALSE(other.skip_collective());
}

TEST(RankFaults, BatchesMakeTheComputationsOfTheirMicrobatchesLonger) {
  const FaultPlan uneven = plan("uneven_batch:factor=4");
  RankFaults faults(uneven, {.rank = 5, .stage = 0, .replica = 2, .samples = 3});
  faults.begin_step(7);
  EXPECT_EQ(faults.compute_factor(1), uneven.batch_factor(2, 7, 1, 3));
  EXPECT_EQ(faults.compute_factor(-1), 1);  // the optimizer's, say
  RankFaults slow(plan("slow_stage:stage=3,factor=2"), {.rank = 0, .stage = 3});
  slow.begin_step(1);
  EXPECT_EQ(slow.compute_factor(-1), 2);
}

// Sleeping takes at least as long as asked for, on any machine.
TEST(RankFaults, SleepsAreReal) {
  RankFaults faults({{parse_fault("slow_loader:ms=20").value(), parse_fault("delayed_launch:us=5000").value(),
                      parse_fault("pause:ms=30").value()},
                     1},
                    {});
  const auto time = [](auto&& act) {
    const Clock::time_point begin = Clock::now();
    act();
    return Clock::now() - begin;
  };
  faults.begin_step(1);
  EXPECT_GE(time([&] { faults.wait_for_batch(); }), 20ms);
  // In a step before which none was, the pause is at the first computation.
  EXPECT_GE(time([&] { faults.before_computation(); }), 35ms);
  const auto step = [&] {
    for (int i = 0; i < 4; ++i) faults.before_computation();
  };
  step();
  faults.begin_step(2);
  EXPECT_GE(time(step), 4 * 5ms + 30ms);  // somewhere among them
}

}  // namespace
}  // namespace lockstep::trainer
