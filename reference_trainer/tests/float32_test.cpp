// In float32, as models are trained: every mode reaches the losses of one process on the same global batch.
// In float64 they agree to 1e-9 (the tests of each mode); here sums in another order may differ by what
// float32 resolves, and what the optimizer makes of that over 20 steps.
#include <gtest/gtest.h>

#include <map>
#include <ostream>

#include "reference_trainer/tests/small_job.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;

constexpr int kBatch = 8;  // sequences of a step

struct Way {
  std::string name;
  int ranks = 2;
  Arguments flags;
  int zero_stage = 0;
  int layers = 2;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name << " on " << way.ranks << " ranks";
}

class Float32 : public SmallJob, public testing::WithParamInterface<Way> {
 protected:
  Float32() : SmallJob({"--hidden", "24", "--heads", "2", "--sequence-length", "16"}) {}

  // Trained once for all tests of this file.
  const std::vector<json>& one_process(const Arguments& job) const {
    static std::map<Arguments, std::vector<json>> trained;
    std::vector<json>& one = trained[job];
    if (one.empty()) one = steps(job + Arguments{"--mode", "single", "--batch-size", std::to_string(kBatch)});
    return one;
  }
};

TEST_P(Float32, EqualsOneProcess) {
  const Way& way = GetParam();
  const Arguments job{"--layers", std::to_string(way.layers), "--steps", "20"};
  Arguments flags{"--ranks", std::to_string(way.ranks)};
  if (way.zero_stage > 0) {
    // Buckets of about half a layer, so that there are several.
    const json zero{
        {"stage", way.zero_stage}, {"reduce_bucket_size", 4000}, {"allgather_bucket_size", 10000}};
    write_file(folder_.file("deepspeed.json"), json{{"zero_optimization", zero}}.dump());
    flags = flags + Arguments{"--deepspeed", folder_.file("deepspeed.json")};
  }
  const auto many = steps(job + flags + way.flags);
  ASSERT_EQ(many.size(), 20u);
  EXPECT_LT(largest_difference(one_process(job), many, {"loss"}), 1e-4);
  EXPECT_LT(many.back().at("loss"), many.front().at("loss"));
}

std::vector<Way> ways() {
  std::vector<Way> ways;
  for (const int ranks : {2, 4}) {
    const Arguments share{"--batch-size", std::to_string(kBatch / ranks)};
    const Arguments sharded = share + Arguments{"--mode", "fsdp", "--sharding-strategy"};
    ways.push_back({"ddp", ranks, share + Arguments{"--bucket-cap-mb", "0.02", "--first-bucket-mb", "0.01"}});
    ways.push_back({"fsdp_full_shard", ranks, sharded + Arguments{"full_shard"}});
    ways.push_back({"fsdp_shard_grad_op", ranks, sharded + Arguments{"shard_grad_op"}});
    ways.push_back({"fsdp_hybrid_shard", ranks, sharded + Arguments{"hybrid_shard", "--shard-size", "2"}});
    for (const int stage : {1, 2, 3}) ways.push_back({"zero" + std::to_string(stage), ranks, share, stage});
    const Arguments pipeline{"--mode", "pipeline", "--batch-size", "2", "--microbatches", "4"};
    ways.push_back({.name = "pipeline_1f1b", .ranks = ranks, .flags = pipeline, .layers = ranks});
  }
  ways.push_back({"fsdp_full_shard", 8, {"--mode", "fsdp", "--batch-size", "1"}});
  return ways;
}

INSTANTIATE_TEST_SUITE_P(Modes, Float32, testing::ValuesIn(ways()), [](const auto& info) {
  return info.param.name + "_" + std::to_string(info.param.ranks);
});

}  // namespace
}  // namespace lockstep::trainer
