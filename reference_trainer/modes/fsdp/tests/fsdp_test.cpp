// Fully sharded training: its losses are those of one process, its collectives are issued in the order of
// PyTorch's FullyShardedDataParallel, and they move the bytes that theory says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference_trainer/tests/small_job.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;
using testing::ElementsAreArray;

class Fsdp : public SmallJob {
 protected:
  Fsdp() : SmallJob({"--layers", "3", "--hidden", "24", "--heads", "2", "--sequence-length", "16"}) {}

  // What rank 0 issued in the group "fsdp" and which layers it computed ("F0", "B2"), in order, in step 2.
  Arguments issued_in_step_2(const Arguments& more, int ranks = 2) const {
    Arguments issued;
    for (const json& line : begun_in_step(
             heard(ranks, Arguments{"--mode", "fsdp", "--batch-size", "2", "--steps", "3"} + more)[0], 2)) {
      const std::string schema = line.value("schema", "");
      const std::string message = line.at("message");
      if (schema == "lockstep.issue" && line.at("fields").at("group") > 0) issued.push_back(message);
      if (schema != "lockstep.compute" || line.at("fields").at("layer") < 0) continue;
      const char* const pass = message.starts_with("forward")     ? "F"
                               : message.starts_with("recompute") ? "R"
                                                                  : "B";
      issued.push_back(pass + message.substr(message.rfind(' ') + 1));
    }
    return issued;
  }
};

std::string gather(int layer) {
  return "all_gather layer " + std::to_string(layer);
}
std::string scatter(int layer) {
  return "reduce_scatter layer " + std::to_string(layer);
}

const std::string kRoot = "reduce_scatter root";
const Arguments kForward{"all_gather root", gather(0), "F0", gather(1), "F1", gather(2), "F2"};
const Arguments kBackwardPre{gather(2), gather(1),  "B2", scatter(2), gather(0),
                             "B1",      scatter(1), "B0", scatter(0), kRoot};

TEST_F(Fsdp, BackwardPrefetchPre) {
  EXPECT_THAT(issued_in_step_2({"--backward-prefetch", "pre"}), ElementsAreArray(kForward + kBackwardPre));
}

TEST_F(Fsdp, BackwardPrefetchPost) {
  EXPECT_THAT(issued_in_step_2({"--backward-prefetch", "post"}),
              ElementsAreArray(kForward + Arguments{gather(2), "B2", gather(1), scatter(2), "B1", gather(0),
                                                    scatter(1), "B0", scatter(0), kRoot}));
}

TEST_F(Fsdp, NoBackwardPrefetch) {
  EXPECT_THAT(issued_in_step_2({"--backward-prefetch", "none"}),
              ElementsAreArray(kForward + Arguments{gather(2), "B2", scatter(2), gather(1), "B1", scatter(1),
                                                    gather(0), "B0", scatter(0), kRoot}));
}

TEST_F(Fsdp, ForwardPrefetch) {
  EXPECT_THAT(
      issued_in_step_2({"--forward-prefetch"}),
      ElementsAreArray(Arguments{"all_gather root", gather(0), gather(1), "F0", gather(2), "F1", "F2"} +
                       kBackwardPre));
}

TEST_F(Fsdp, ShardGradOpKeepsParametersOverForward) {
  EXPECT_THAT(
      issued_in_step_2({"--sharding-strategy", "shard_grad_op"}),
      ElementsAreArray(kForward + Arguments{"B2", scatter(2), "B1", scatter(1), "B0", scatter(0), kRoot}));
}

// Freed memory is free at once on the CPU: nothing waits, and the order is the same.
TEST_F(Fsdp, LimitOfAllGathersKeepsTheOrder) {
  EXPECT_THAT(issued_in_step_2({"--no-limit-all-gathers"}), ElementsAreArray(kForward + kBackwardPre));
}

TEST_F(Fsdp, NoShardReducesWholeGradients) {
  EXPECT_THAT(
      issued_in_step_2({"--sharding-strategy", "no_shard"}),
      ElementsAreArray(Arguments{"F0", "F1", "F2", "B2", "all_reduce layer 2", "B1", "all_reduce layer 1",
                                 "B0", "all_reduce layer 0", "all_reduce root"}));
}

// A layer has 7,176 parameters: two make a unit of 12,000, and the third is left to the root.
TEST_F(Fsdp, LargeUnits) {
  EXPECT_THAT(issued_in_step_2({"--unit-parameters", "12000"}),
              ElementsAreArray(Arguments{"all_gather root", "all_gather layers 0-1", "F0", "F1", "F2",
                                         "all_gather layers 0-1", "B2", "B1", "B0",
                                         "reduce_scatter layers 0-1", kRoot}));
}

// The forward pass once more before each backward, and not one all-gather more.
TEST_F(Fsdp, CheckpointingRecomputesBehindTheGather) {
  const Arguments backward{gather(2), gather(1),  "R2", "B2", scatter(2), gather(0), "R1",
                           "B1",      scatter(1), "R0", "B0", scatter(0), kRoot};
  EXPECT_THAT(issued_in_step_2({"--activation-checkpointing"}), ElementsAreArray(kForward + backward));
}

// Rank 0 of 4 in pairs: its shard is summed with rank 2's once the pair has summed the whole.
TEST_F(Fsdp, HybridShardReducesWithinAndAcross) {
  Arguments issued = issued_in_step_2({"--sharding-strategy", "hybrid_shard", "--shard-size", "2"}, 4);
  std::erase_if(issued, [](const std::string& what) {
    return !what.starts_with("reduce") && !what.starts_with("all_r");
  });
  EXPECT_THAT(issued,
              ElementsAreArray(Arguments{scatter(2), "all_reduce layer 2", scatter(1), "all_reduce layer 1",
                                         scatter(0), "all_reduce layer 0", kRoot, "all_reduce root"}));
}

// Two micro-steps a step: every one gathers, the last one alone reduces.
TEST_F(Fsdp, AccumulationReducesOnce) {
  const Arguments first = kForward + Arguments{gather(2), gather(1), "B2", gather(0), "B1", "B0"};
  EXPECT_THAT(issued_in_step_2({"--gradient-accumulation", "2"}),
              ElementsAreArray(first + kForward + kBackwardPre));
}

struct Variant {
  const char* name;
  Arguments flags;
};
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.name;
}

class FsdpLoss : public Fsdp, public testing::WithParamInterface<std::tuple<int, Variant>> {};

TEST_P(FsdpLoss, EqualsOneProcess) {
  const auto& [ranks, variant] = GetParam();
  constexpr int kBatch = 8;
  const Arguments common{"--dtype", "float64", "--steps", "20", "--clip-grad-norm", "0.5"};
  const auto one = steps(common + Arguments{"--mode", "single", "--batch-size", std::to_string(kBatch)});
  const auto many = steps(common +
                          Arguments{"--mode", "fsdp", "--ranks", std::to_string(ranks), "--batch-size",
                                    std::to_string(kBatch / ranks)} +
                          variant.flags);
  ASSERT_EQ(one.size(), 20u);
  EXPECT_LT(largest_difference(one, many), 1e-9);
  EXPECT_LT(many.back().at("loss"), many.front().at("loss"));
}

INSTANTIATE_TEST_SUITE_P(
    Variants, FsdpLoss,
    testing::Combine(
        testing::Values(2, 4, 8),
        testing::Values(Variant{"pre", {}}, Variant{"post", {"--backward-prefetch", "post"}},
                        Variant{"none", {"--backward-prefetch", "none"}},
                        Variant{"forward_prefetch", {"--forward-prefetch"}},
                        Variant{"shard_grad_op", {"--sharding-strategy", "shard_grad_op"}},
                        Variant{"no_shard", {"--sharding-strategy", "no_shard"}},
                        Variant{"hybrid_shard", {"--sharding-strategy", "hybrid_shard", "--shard-size", "2"}},
                        Variant{"large_units", {"--unit-parameters", "12000"}},
                        Variant{"offloaded_checkpointed", {"--cpu-offload", "--activation-checkpointing"}})),
    [](const auto& info) {
      return std::string(std::get<1>(info.param).name) + "_" + std::to_string(std::get<0>(info.param));
    });

TEST_F(Fsdp, AccumulatedBatchesEqualOneLargeBatch) {
  for (const char* strategy : {"full_shard", "shard_grad_op"}) {
    const Arguments job{
        "--mode", "fsdp", "--ranks", "2", "--dtype", "float64", "--steps", "5", "--sharding-strategy",
        strategy};
    const auto large = steps(job + Arguments{"--batch-size", "4"});
    const auto small = steps(job + Arguments{"--batch-size", "1", "--gradient-accumulation", "4"});
    EXPECT_LT(largest_difference(large, small), 1e-9) << strategy;
  }
}

// A copy of the model on each rank, as on nodes of one GPU.
TEST_F(Fsdp, HybridShardOverOneRankIsNoShard) {
  const Arguments job{"--mode", "fsdp", "--ranks", "2", "--steps", "4", "--sharding-strategy"};
  const auto hybrid = steps(job + Arguments{"hybrid_shard", "--shard-size", "1"});
  EXPECT_EQ(largest_difference(hybrid, steps(job + Arguments{"no_shard"})), 0);
}

// Seven or eight bits of mantissa: each rounding is up to 0.4 %, and losses stay within 2 % of float32's.
TEST_F(Fsdp, Bfloat16StaysNearFloat32) {
  const auto exact = steps({"--steps", "20", "--batch-size", "8", "--mode", "single"});
  const Arguments job{"--mode", "fsdp",    "--ranks", "2",       "--batch-size",
                      "4",      "--steps", "20",      "--dtype", "bfloat16"};
  for (const Arguments& more : {Arguments{}, Arguments{"--reduce-in-float32"}})
    EXPECT_LT(largest_difference(exact, steps(job + more), {"loss"}), 0.02);
}

TEST_F(Fsdp, OneRankIsRefused) {
  EXPECT_THAT(refusal({"--mode", "fsdp"}), testing::HasSubstr("--mode fsdp"));
}

}  // namespace
}  // namespace lockstep::trainer
