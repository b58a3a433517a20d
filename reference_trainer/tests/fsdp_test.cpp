// Fully sharded training: its losses are those of one process, its collectives are issued in the order of
// PyTorch's FullyShardedDataParallel, and they move the bytes that theory says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {
namespace {

using Arguments = std::vector<std::string>;
using nlohmann::json;
using testing::ElementsAreArray;

constexpr int kLayers = 3;
constexpr int kHidden = 24;

class Fsdp : public testing::Test {
 protected:
  Fsdp() { write_file(folder_.file("text"), sample_text()); }

  Arguments command(const Arguments& more) const {
    Arguments arguments{"--data",
                        folder_.file("text"),
                        "--log",
                        folder_.file("log"),
                        "--layers",
                        std::to_string(kLayers),
                        "--hidden",
                        std::to_string(kHidden),
                        "--heads",
                        "2",
                        "--sequence-length",
                        "16"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  std::vector<json> steps(const Arguments& more, const Environment& environment = {}) const {
    TrainerProcess process(command(more), environment);
    EXPECT_EQ(process.wait(), 0) << process.errors();
    return events(read_json_lines(folder_.file("log")), "step");
  }

  // What rank 0 issued in the group "fsdp" and which layers it computed ("F0", "B2"), in order, in step 2.
  std::vector<std::string> issued_in_step_2(const Arguments& more) const {
    Arguments arguments{"--mode", "fsdp", "--batch-size", "2", "--steps", "3"};
    if (std::find(more.begin(), more.end(), "--ranks") == more.end())
      arguments.insert(arguments.end(), {"--ranks", "2"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    steps(arguments, {{"NVTX_INJECTION64_PATH", LOCKSTEP_NVTX_LISTENER},
                      {"LOCKSTEP_TEST_LISTENER", folder_.file("heard")}});
    std::vector<std::string> issued;
    int step = 0;
    for (const json& line : read_json_lines(folder_.file("heard.0"))) {
      if (line.at("kind") != "push") continue;
      const std::string schema = line.value("schema", "");
      if (schema == "lockstep.step") step = line.at("fields").at("step");
      if (step != 2) continue;
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

  TemporaryFolder folder_;
};

std::string gather(int layer) {
  return "all_gather layer " + std::to_string(layer);
}
std::string scatter(int layer) {
  return "reduce_scatter layer " + std::to_string(layer);
}
std::vector<std::string> join(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

const std::string kRoot = "reduce_scatter root";
const std::vector<std::string> kForward{"all_gather root", gather(0), "F0", gather(1), "F1", gather(2), "F2"};
const std::vector<std::string> kBackwardPre{gather(2), gather(1),  "B2", scatter(2), gather(0),
                                            "B1",      scatter(1), "B0", scatter(0), kRoot};

TEST_F(Fsdp, BackwardPrefetchPre) {
  EXPECT_THAT(issued_in_step_2({"--backward-prefetch", "pre"}),
              ElementsAreArray(join(kForward, kBackwardPre)));
}

TEST_F(Fsdp, BackwardPrefetchPost) {
  EXPECT_THAT(issued_in_step_2({"--backward-prefetch", "post"}),
              ElementsAreArray(join(kForward, {gather(2), "B2", gather(1), scatter(2), "B1", gather(0),
                                               scatter(1), "B0", scatter(0), kRoot})));
}

TEST_F(Fsdp, NoBackwardPrefetch) {
  EXPECT_THAT(issued_in_step_2({"--backward-prefetch", "none"}),
              ElementsAreArray(join(kForward, {gather(2), "B2", scatter(2), gather(1), "B1", scatter(1),
                                               gather(0), "B0", scatter(0), kRoot})));
}

TEST_F(Fsdp, ForwardPrefetch) {
  EXPECT_THAT(issued_in_step_2({"--forward-prefetch"}),
              ElementsAreArray(join({"all_gather root", gather(0), gather(1), "F0", gather(2), "F1", "F2"},
                                    kBackwardPre)));
}

TEST_F(Fsdp, ShardGradOpKeepsParametersOverForward) {
  EXPECT_THAT(
      issued_in_step_2({"--sharding-strategy", "shard_grad_op"}),
      ElementsAreArray(join(kForward, {"B2", scatter(2), "B1", scatter(1), "B0", scatter(0), kRoot})));
}

// Freed memory is free at once on the CPU: nothing waits, and the order is the same.
TEST_F(Fsdp, LimitOfAllGathersKeepsTheOrder) {
  EXPECT_THAT(issued_in_step_2({"--no-limit-all-gathers"}), ElementsAreArray(join(kForward, kBackwardPre)));
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
  std::vector<std::string> backward{gather(2), gather(1),  "R2", "B2", scatter(2), gather(0), "R1",
                                    "B1",      scatter(1), "R0", "B0", scatter(0), kRoot};
  EXPECT_THAT(issued_in_step_2({"--activation-checkpointing"}), ElementsAreArray(join(kForward, backward)));
}

// Rank 0 of 4 in pairs: its shard is summed with rank 2's once the pair has summed the whole.
TEST_F(Fsdp, HybridShardReducesWithinAndAcross) {
  std::vector<std::string> issued =
      issued_in_step_2({"--sharding-strategy", "hybrid_shard", "--shard-size", "2", "--ranks", "4"});
  std::erase_if(issued, [](const std::string& what) {
    return !what.starts_with("reduce") && !what.starts_with("all_r");
  });
  EXPECT_THAT(issued,
              ElementsAreArray(Arguments{scatter(2), "all_reduce layer 2", scatter(1), "all_reduce layer 1",
                                         scatter(0), "all_reduce layer 0", kRoot, "all_reduce root"}));
}

// Two micro-steps a step: every one gathers, the last one alone reduces.
TEST_F(Fsdp, AccumulationReducesOnce) {
  const std::vector<std::string> first = join(kForward, {gather(2), gather(1), "B2", gather(0), "B1", "B0"});
  EXPECT_THAT(issued_in_step_2({"--gradient-accumulation", "2"}),
              ElementsAreArray(join(first, join(kForward, kBackwardPre))));
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
  const auto with = [&common](Arguments more) {
    more.insert(more.end(), common.begin(), common.end());
    return more;
  };
  const auto one = steps(with({"--mode", "single", "--batch-size", std::to_string(kBatch)}));
  Arguments sharded{
      "--mode", "fsdp", "--ranks", std::to_string(ranks), "--batch-size", std::to_string(kBatch / ranks)};
  sharded.insert(sharded.end(), variant.flags.begin(), variant.flags.end());
  const auto many = steps(with(sharded));
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
  const Arguments job{"--mode", "fsdp", "--ranks", "2", "--dtype", "float64", "--steps", "5"};
  const auto with = [&job](Arguments more) {
    more.insert(more.end(), job.begin(), job.end());
    return more;
  };
  for (const char* strategy : {"full_shard", "shard_grad_op"}) {
    const auto large = steps(with({"--batch-size", "4", "--sharding-strategy", strategy}));
    const auto small =
        steps(with({"--batch-size", "1", "--gradient-accumulation", "4", "--sharding-strategy", strategy}));
    EXPECT_LT(largest_difference(large, small), 1e-9) << strategy;
  }
}

// Seven or eight bits of mantissa: each rounding is up to 0.4 %, and losses stay within 2 % of float32's.
TEST_F(Fsdp, Bfloat16StaysNearFloat32) {
  const Arguments batch{"--steps", "20", "--batch-size", "8", "--mode", "single"};
  const auto exact = steps(batch);
  for (const Arguments& more : std::vector<Arguments>{{}, {"--reduce-in-float32"}}) {
    Arguments job{"--mode", "fsdp",    "--ranks", "2",       "--batch-size",
                  "4",      "--steps", "20",      "--dtype", "bfloat16"};
    job.insert(job.end(), more.begin(), more.end());
    const auto rounded = steps(job);
    ASSERT_EQ(rounded.size(), exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double loss = exact[i].at("loss");
      EXPECT_NEAR(rounded[i].at("loss").get<double>() / loss, 1, 0.02) << "step " << i + 1;
    }
  }
}

TEST_F(Fsdp, OneRankIsRefused) {
  TrainerProcess process(command({"--mode", "fsdp"}));
  EXPECT_EQ(process.wait(), 2);
  EXPECT_THAT(process.errors(), testing::HasSubstr("--mode fsdp"));
}

}  // namespace
}  // namespace lockstep::trainer
