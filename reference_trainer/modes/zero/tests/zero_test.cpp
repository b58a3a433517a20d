// ZeRO moves the bytes that theory says, and says what it does not do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "reference_trainer/modes/zero/tests/zero_job.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr std::int64_t kFloat = 4;  // bytes

class Zero : public ZeroJob {
 protected:
  // Bytes of the operations of the group "zero" of one step, as traced.
  std::map<std::string, std::int64_t> bytes(const json& zero, const Arguments& more = {}) const {
    std::map<std::string, std::int64_t> bytes;
    for (const json& line : heard_in_step_3(zero, more)) {
      const std::string message = line.at("message");
      if (is_of_zero(line, "lockstep.collective"))
        bytes[message.substr(0, message.find(' '))] += line.at("fields").at("bytes").get<std::int64_t>();
    }
    return bytes;
  }
};

TEST_F(Zero, TracedBytes) {
  const std::int64_t whole = kModel * kFloat;
  using Bytes = std::map<std::string, std::int64_t>;
  for (const int stage : {1, 2})
    EXPECT_EQ(bytes(stage_1_or_2(stage, true)), (Bytes{{"all_gather", whole}, {"reduce_scatter", whole}}));
  // Without reuse: 3 S, half as much again as data parallelism, whose all-reduce is 2 S on the wire.
  EXPECT_EQ(bytes(stage_3()), (Bytes{{"all_gather", 2 * whole}, {"reduce_scatter", whole}}));
  EXPECT_EQ(bytes(stage_3({{"stage3_prefetch_bucket_size", 0}, {"stage3_max_reuse_distance", 1}})),
            (Bytes{{"all_gather", 2 * whole - kHead * kFloat}, {"reduce_scatter", whole}}));
  // Everything is used again within so many elements, or kept.
  EXPECT_EQ(bytes(stage_3({{"stage3_max_reuse_distance", 1e9}})),
            (Bytes{{"all_gather", whole}, {"reduce_scatter", whole}}));
  EXPECT_EQ(bytes(stage_3({{"stage3_param_persistence_threshold", 1e6}})),
            (Bytes{{"all_gather", whole}, {"reduce_scatter", whole}}));
  EXPECT_EQ(bytes(stage_3({{"reduce_scatter", false}})),
            (Bytes{{"all_gather", 2 * whole}, {"all_reduce", whole}}));
  // Every micro-step moves it all again.
  EXPECT_EQ(bytes(stage_3(), {"--gradient-accumulation", "3"}),
            (Bytes{{"all_gather", 6 * whole}, {"reduce_scatter", 3 * whole}}));
}

TEST_F(Zero, WhatHasNoEffectIsSaidOnce) {
  TrainerProcess process(command({"--deepspeed", config({{"stage", 2}, {"round_robin_gradients", true}}),
                                  "--ranks", "2", "--steps", "1"}));
  EXPECT_EQ(process.wait(), 0);
  const std::string line =
      "warning: " + folder_.file("deepspeed.json") + ": zero_optimization.round_robin_gradients";
  EXPECT_THAT(process.errors(), HasSubstr(line));
  EXPECT_EQ(process.errors().find(line), process.errors().rfind(line));
}

TEST_F(Zero, WrongUseIsRefused) {
  const auto refuse = [this](const Arguments& more, const std::string& message) {
    EXPECT_THAT(refusal(more), HasSubstr(message));
  };
  refuse({"--mode", "zero3"}, "--mode zero3: one rank has nobody to share with");
  refuse({"--ranks", "2", "--deepspeed", "/no/such.json"}, "--deepspeed '/no/such.json'");
  write_file(folder_.file("batch.json"), R"({"train_batch_size": 9, "zero_optimization": {"stage": 1}})");
  refuse({"--ranks", "2", "--deepspeed", folder_.file("batch.json")},
         "train_batch_size 9 is not a multiple of 2 ranks");
  refuse({"--ranks", "2", "--deepspeed",
          config({{"stage", 3}, {"offload_param", {{"device", "nvme"}, {"nvme_path", "/no/such"}}}})},
         "zero_optimization.offload_param.nvme_path: \"/no/such\" must be a folder that exists");
}

}  // namespace
}  // namespace lockstep::trainer
