// A log says enough to run its job again: with "configuration" given back by --config and "deepspeed" by
// --deepspeed, the second log begins as the first one, and its losses are the same to the last bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "reference_trainer/tests/small_job.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;

struct Job {
  std::string name;
  Arguments flags;
  json zero;  // null: none
};
void PrintTo(const Job& job, std::ostream* out) {
  *out << job.name;
}

class Reproduction : public SmallJob, public testing::WithParamInterface<Job> {
 protected:
  // Not even the model is as usual.
  Reproduction() : SmallJob({"--hidden", "16", "--heads", "4", "--sequence-length", "8"}) {}
};

TEST_P(Reproduction, TheLogIsEnough) {
  const Job& job = GetParam();
  Arguments flags{"--ranks", "2", "--steps", "3", "--seed", "5", "--learning-rate", "0.0037"};
  if (!job.zero.is_null()) {
    write_file(folder_.file("deepspeed.json"), json{{"zero_optimization", job.zero}}.dump());
    flags = flags + Arguments{"--deepspeed", folder_.file("deepspeed.json")};
  }
  const std::vector<json> first = log(flags + job.flags);

  const json start = events(first, "start").at(0);
  write_file(folder_.file("config.json"), start.at("configuration").dump());
  Arguments again{"--config", folder_.file("config.json"), "--log", folder_.file("log")};
  EXPECT_EQ(start.at("deepspeed").is_null(), job.zero.is_null());
  if (!start.at("deepspeed").is_null()) {
    write_file(folder_.file("again.json"), start.at("deepspeed").dump());
    again = again + Arguments{"--deepspeed", folder_.file("again.json")};
  }
  TrainerProcess process(again);
  ASSERT_EQ(process.wait(), 0) << process.errors();
  EXPECT_EQ(process.errors(), "");
  const std::vector<json> second = read_json_lines(folder_.file("log"));
  EXPECT_EQ(events(second, "start").at(0), start);
  EXPECT_EQ(losses_of(second), losses_of(first));
}

// Each with values that are nobody's default.
INSTANTIATE_TEST_SUITE_P(
    Modes, Reproduction,
    testing::Values(
        Job{"ddp",
            {"--bucket-cap-mb", "0.017", "--first-bucket-mb", "0.003", "--no-gradient-as-bucket-view",
             "--fault", "slow_loader:rank=1,ms=2,steps=2-3", "--fault", "pause:ms=1"},
            nullptr},
        Job{"fsdp",
            {"--mode", "fsdp", "--sharding-strategy", "hybrid_shard", "--shard-size", "1",
             "--backward-prefetch", "post", "--forward-prefetch", "--no-limit-all-gathers",
             "--unit-parameters", "5000", "--dtype", "bfloat16", "--reduce-in-float32", "--cpu-offload"},
            nullptr},
        Job{"zero2",
            {"--batch-size", "2", "--gradient-accumulation", "2"},
            {{"stage", 2}, {"reduce_bucket_size", 999}}},
        Job{"zero3",
            {"--clip-grad-norm", "0.25"},
            {{"stage", 3},
             {"overlap_comm", false},
             {"reduce_bucket_size", "auto"},
             {"stage3_prefetch_bucket_size", 1e3},
             {"stage3_param_persistence_threshold", "auto"},
             {"offload_param", {{"device", "cpu"}}}}},
        Job{"pipeline",
            {"--mode", "pipeline", "--schedule", "interleaved", "--layers", "4", "--microbatches", "2",
             "--overlap-p2p-communication", "--activation-checkpointing"},
            nullptr},
        Job{"paced_llama",
            {"--model", "llama", "--device", "paced", "--flops", "1e12", "--jitter", "0.1", "--bandwidth",
             "1e9", "--latency", "3", "--dtype", "float64"},
            nullptr}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lockstep::trainer
