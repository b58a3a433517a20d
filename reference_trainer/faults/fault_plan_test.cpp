#include "reference_trainer/faults/fault_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace lockstep::trainer {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

FaultPlan plan(const std::vector<std::string>& specifications, std::uint64_t seed = 1) {
  std::vector<Fault> faults;
  for (const std::string& specification : specifications)
    faults.push_back(parse_fault(specification).value());
  return {faults, seed};
}

TEST(FaultPlan, WithoutFaultsNothingGoesWrong) {
  const FaultPlan none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.compute_factor(0, 0, 1), 1);
  EXPECT_EQ(none.batch_factor(0, 1, 0, 4), 1);
  EXPECT_EQ(none.loader_delay(0, 1), 0ns);
  EXPECT_EQ(none.pause(0, 1, 0, 1), 0ns);
  EXPECT_EQ(none.launch_delay(0, 1), 0ns);
  EXPECT_FALSE(none.skips_collective(0, 1));
  EXPECT_EQ(none.sending_time(0, 1, 1000), std::nullopt);
}

TEST(FaultPlan, HoldsForItsRankInItsStepsAlone) {
  const FaultPlan slow = plan({"slow_rank:rank=2,factor=3,steps=4-5"});
  for (int rank = 0; rank < 4; ++rank) {
    for (int step = 1; step <= 8; ++step)
      EXPECT_EQ(slow.compute_factor(rank, 0, step), rank == 2 && (step == 4 || step == 5) ? 3 : 1);
  }
  const FaultPlan loader = plan({"slow_loader:rank=1,ms=1.5"});
  EXPECT_EQ(loader.loader_delay(1, 9), 1500us);
  EXPECT_EQ(loader.loader_delay(0, 9), 0ns);
  EXPECT_EQ(plan({"slow_loader:ms=2"}).loader_delay(17, 1), 2ms);  // no rank: all
  EXPECT_EQ(plan({"delayed_launch:us=250"}).launch_delay(3, 1), 250us);
  const FaultPlan skip = plan({"skip_collective:rank=1,steps=3"});
  EXPECT_TRUE(skip.skips_collective(1, 3));
  EXPECT_FALSE(skip.skips_collective(1, 2));
  EXPECT_FALSE(skip.skips_collective(0, 3));
}

TEST(FaultPlan, StagesAreNoRanks) {
  const FaultPlan slow = plan({"slow_stage:stage=1,factor=2"});
  EXPECT_EQ(slow.compute_factor(/*rank=*/5, /*stage=*/1, 1), 2);
  EXPECT_EQ(slow.compute_factor(/*rank=*/1, /*stage=*/5, 1), 1);
}

TEST(FaultPlan, SeveralFaultsAddUp) {
  const FaultPlan both = plan({"slow_rank:rank=0,factor=2", "slow_stage:stage=0,factor=1.5", "pause:ms=1",
                               "slow_loader:ms=1", "slow_loader:rank=0,ms=2"});
  EXPECT_EQ(both.compute_factor(0, 0, 1), 3);
  EXPECT_EQ(both.loader_delay(0, 1), 3ms);
  EXPECT_EQ(both.loader_delay(1, 1), 1ms);
  // Of several rates the slowest link counts.
  EXPECT_EQ(plan({"slow_link:mbit=100", "slow_link:rank=0,mbit=8"}).sending_time(0, 1, 1'000'000), 1s);
}

TEST(FaultPlan, SendingTakesBytesOverRate) {
  const FaultPlan link = plan({"slow_link:rank=1,mbit=100"});
  EXPECT_EQ(link.sending_time(1, 1, 12'500'000), 1s);
  EXPECT_EQ(link.sending_time(1, 1, 0), 0ns);
  EXPECT_EQ(link.sending_time(0, 1, 12'500'000), std::nullopt);
}

TEST(FaultPlan, PausesOnceAStepAtAPlaceThatVaries) {
  const FaultPlan pauses = plan({"pause:ms=7"}, 3);
  constexpr int kPlaces = 20;
  std::set<int> seen;
  for (int rank = 0; rank < 4; ++rank) {
    for (int step = 1; step <= 50; ++step) {
      nanoseconds sum{};
      for (int place = 0; place < kPlaces; ++place) {
        const nanoseconds here = pauses.pause(rank, step, place, kPlaces);
        if (here > 0ns) seen.insert(place);
        sum += here;
      }
      EXPECT_EQ(sum, 7ms) << "rank " << rank << ", step " << step;
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{kPlaces});  // 200 draws miss one of 20 with probability 0.0007
}

TEST(FaultPlan, UnevenBatchesFollowFromTheSeed) {
  const auto factors = [](std::uint64_t seed) {
    const FaultPlan uneven = plan({"uneven_batch:factor=3"}, seed);
    std::vector<double> all;
    for (int replica = 0; replica < 4; ++replica)
      for (int step = 1; step <= 20; ++step)
        for (int microbatch = 0; microbatch < 3; ++microbatch)
          all.push_back(uneven.batch_factor(replica, step, microbatch, 1));
    return all;
  };
  const std::vector<double> once = factors(5);
  EXPECT_EQ(factors(5), once);
  EXPECT_NE(factors(6), once);
  EXPECT_EQ(std::set(once.begin(), once.end()).size(), once.size());  // no two batches are alike
  EXPECT_GE(*std::min_element(once.begin(), once.end()), 1);
  EXPECT_LE(*std::max_element(once.begin(), once.end()), 3);
  // Uniform: of 240 draws of mean 2 and deviation 2/√12 the mean has a deviation of 0.037.
  EXPECT_NEAR(std::accumulate(once.begin(), once.end(), 0.0) / static_cast<double>(once.size()), 2, 0.15);
}

TEST(FaultPlan, ManySamplesEvenABatchOut) {
  const FaultPlan uneven = plan({"uneven_batch:factor=3"});
  EXPECT_NEAR(uneven.batch_factor(0, 1, 0, 10'000), 2, 0.03);
  EXPECT_EQ(uneven.batch_factor(0, 1, 0, 0), 1);
}

}  // namespace
}  // namespace lockstep::trainer
