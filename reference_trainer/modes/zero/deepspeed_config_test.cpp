#include "reference_trainer/modes/zero/deepspeed_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "reference_trainer/modes/zero/batch_sizes.h"
#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::int64_t kHidden = 10;

Result<DeepSpeedConfig> parse(const std::string& text) {
  return parse_deepspeed_config(text, "my.json", kHidden);
}

DeepSpeedConfig parsed(const std::string& text) {
  auto config = parse(text);
  EXPECT_TRUE(config.ok()) << (config.ok() ? "" : config.error().message);
  return config.ok() ? config.value() : DeepSpeedConfig{};
}

std::string zero(int stage, const std::string& more = "") {
  return R"({"zero_optimization": {"stage": )" + std::to_string(stage) + (more.empty() ? "" : ", " + more) +
         "}}";
}

TEST(DeepSpeedConfig, DefaultsAreDeepSpeeds) {
  const DeepSpeedConfig config = parsed(zero(3));
  EXPECT_EQ(config.zero.stage, 3);
  EXPECT_TRUE(config.zero.overlap_comm);
  EXPECT_TRUE(config.zero.contiguous_gradients);
  EXPECT_TRUE(config.zero.reduce_scatter);
  EXPECT_EQ(config.zero.reduce_bucket_size, 500'000'000);
  EXPECT_EQ(config.zero.allgather_bucket_size, 500'000'000);
  EXPECT_EQ(config.zero.sub_group_size, 1'000'000'000);
  EXPECT_EQ(config.zero.prefetch_bucket_size, 50'000'000);
  EXPECT_EQ(config.zero.param_persistence_threshold, 100'000);
  EXPECT_EQ(config.zero.max_live_parameters, 1'000'000'000);
  EXPECT_EQ(config.zero.max_reuse_distance, 1'000'000'000);
  EXPECT_EQ(config.zero.offload_optimizer.device, OffloadDevice::none);
  EXPECT_EQ(config.zero.offload_param.device, OffloadDevice::none);
  EXPECT_EQ(config.batch.micro_batch, std::nullopt);
  EXPECT_EQ(config.batch.accumulation, std::nullopt);
  EXPECT_EQ(config.batch.train_batch, std::nullopt);
  EXPECT_EQ(config.gradient_clipping, std::nullopt);
  EXPECT_EQ(config.bf16, std::nullopt);
  EXPECT_THAT(config.warnings, IsEmpty());
  EXPECT_FALSE(parsed(zero(2)).zero.overlap_comm);
  EXPECT_FALSE(parsed(zero(1)).zero.overlap_comm);
}

TEST(DeepSpeedConfig, EveryKeyReachesItsField) {
  const DeepSpeedConfig config = parsed(R"({
    "bf16": {"enabled": true},
    "fp16": {"enabled": false},
    "gradient_clipping": 0.5,
    "gradient_accumulation_steps": 2,
    "train_micro_batch_size_per_gpu": 3,
    "train_batch_size": 24,
    "zero_optimization": {
      "stage": 3,
      "overlap_comm": false,
      "contiguous_gradients": false,
      "reduce_scatter": false,
      "reduce_bucket_size": 1e3,
      "sub_group_size": 2.0e3,
      "stage3_prefetch_bucket_size": 0,
      "stage3_param_persistence_threshold": 4000,
      "stage3_max_live_parameters": 5e3,
      "stage3_max_reuse_distance": 6e3,
      "offload_optimizer": {"device": "cpu", "pin_memory": false},
      "offload_param": {"device": "nvme", "nvme_path": "/fast"}
    }})");
  EXPECT_EQ(config.bf16, true);
  EXPECT_EQ(config.gradient_clipping, 0.5);
  EXPECT_EQ(config.batch.accumulation, 2);
  EXPECT_EQ(config.batch.micro_batch, 3);
  EXPECT_EQ(config.batch.train_batch, 24);
  EXPECT_FALSE(config.zero.overlap_comm);
  EXPECT_FALSE(config.zero.contiguous_gradients);
  EXPECT_FALSE(config.zero.reduce_scatter);
  EXPECT_EQ(config.zero.reduce_bucket_size, 1000);
  EXPECT_EQ(config.zero.sub_group_size, 2000);
  EXPECT_EQ(config.zero.prefetch_bucket_size, 0);
  EXPECT_EQ(config.zero.param_persistence_threshold, 4000);
  EXPECT_EQ(config.zero.max_live_parameters, 5000);
  EXPECT_EQ(config.zero.max_reuse_distance, 6000);
  EXPECT_EQ(config.zero.offload_optimizer.device, OffloadDevice::cpu);
  EXPECT_EQ(config.zero.offload_param.device, OffloadDevice::nvme);
  EXPECT_EQ(config.zero.offload_param.nvme_path, "/fast");
  EXPECT_THAT(config.warnings, IsEmpty());
  EXPECT_EQ(parsed(zero(2, R"("allgather_bucket_size": 7e3)")).zero.allgather_bucket_size, 7000);
  EXPECT_EQ(parsed(R"({"bfloat16": {"enabled": false}, "zero_optimization": {"stage": 1}})").bf16, false);
}

TEST(DeepSpeedConfig, AutomaticSizesFollowTheModelsWidth) {
  const DeepSpeedConfig config = parsed(R"({
    "bf16": {"enabled": "auto"}, "fp16": {"enabled": "auto"}, "gradient_clipping": "auto",
    "gradient_accumulation_steps": "auto", "train_micro_batch_size_per_gpu": "auto", "train_batch_size": "auto",
    "zero_optimization": {"stage": 3, "reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": "auto",
                          "stage3_param_persistence_threshold": "auto"}})");
  EXPECT_EQ(config.zero.reduce_bucket_size, 100);
  EXPECT_EQ(config.zero.prefetch_bucket_size, 90);
  EXPECT_EQ(config.zero.param_persistence_threshold, 100);
  EXPECT_EQ(config.bf16, std::nullopt);
  EXPECT_EQ(config.gradient_clipping, std::nullopt);
  EXPECT_EQ(config.batch.micro_batch, std::nullopt);
}

TEST(DeepSpeedConfig, WhatHasNoEffectIsNamed) {
  EXPECT_THAT(
      parsed(R"({"steps_per_print": 10, "optimizer": {"type": "AdamW"}, "bf16": {"x": {"y": 1}},
    "zero_optimization": {"stage": 2, "round_robin_gradients": true, "stage3_max_live_parameters": 1,
                          "offload_optimizer": {"device": "cpu", "ratio": 0.5, "pin_memory": true}}})")
          .warnings,
      ElementsAre("my.json: zero_optimization.stage3_max_live_parameters: ignored at stage 2",
                  "my.json: zero_optimization.offload_optimizer.pin_memory: ignored: a CPU's memory is "
                  "all alike",
                  "my.json: zero_optimization.offload_optimizer.ratio: ignored",
                  "my.json: zero_optimization.round_robin_gradients: ignored", "my.json: bf16.x: ignored",
                  "my.json: steps_per_print: ignored", "my.json: optimizer: ignored"));
  EXPECT_THAT(parsed(zero(3, R"("allgather_bucket_size": 7)")).warnings,
              ElementsAre("my.json: zero_optimization.allgather_bucket_size: ignored at stage 3"));
}

struct Wrong {
  std::string text;
  std::string message;
};
void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.text;
}

class WrongConfig : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongConfig, IsRefused) {
  const auto config = parse(GetParam().text);
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(config.error().message, StartsWith("my.json: "));
  EXPECT_THAT(config.error().message, HasSubstr(GetParam().message));
}

const std::string kSize = " must be a whole number of elements of at least ";
INSTANTIATE_TEST_SUITE_P(
    Inputs, WrongConfig,
    ::testing::Values(
        // Syntax: line and column.
        Wrong{"", "line 1, column 1: no JSON: "}, Wrong{"{", "line 1, column 2: no JSON: "},
        Wrong{"{\n  \"a\": 1,\n  b}", "line 3, column 3: no JSON: "},
        Wrong{"{\"a\": NaN}", "line 1, column 7: no JSON: "}, Wrong{"{} x", "line 1, column 4: no JSON: "},
        Wrong{"{\"a\": \"\xff\"}", "line 1, column 8: no JSON: "}, Wrong{"{\"a\": 1e999}", "1e999"},
        Wrong{"[]", "[…] must be an object"}, Wrong{"3", "3 must be an object"},
        Wrong{R"({"a": 1, "b": {"a": 2}, "a": 3})", "the key \"a\" stands twice"},
        // Stage.
        Wrong{"{}", "has no zero_optimization.stage: give 1, 2 or 3"}, Wrong{zero(0), "--mode ddp"},
        Wrong{zero(4), "zero_optimization.stage: 4 must be a whole number from 1 to 3"},
        Wrong{R"({"zero_optimization": true})", "zero_optimization: true must be an object"},
        Wrong{R"({"zero_optimization": {"stage": "auto"}})", "zero_optimization.stage: \"auto\" must be"},
        // Sizes.
        Wrong{zero(2, R"("reduce_bucket_size": 0)"), "zero_optimization.reduce_bucket_size: 0" + kSize + "1"},
        Wrong{zero(2, R"("reduce_bucket_size": 0.5)"), "reduce_bucket_size: 0.5" + kSize + "1"},
        Wrong{zero(2, R"("reduce_bucket_size": "5e8")"), "reduce_bucket_size: \"5e8\"" + kSize},
        Wrong{zero(2, R"("reduce_bucket_size": "big")"), ", or \"auto\""},
        Wrong{zero(2, R"("reduce_bucket_size": 1e19)"), "reduce_bucket_size: 1e+19" + kSize},
        Wrong{zero(2, R"("reduce_bucket_size": 18446744073709551615)"), ": 18446744073709551615" + kSize},
        Wrong{zero(2, R"("reduce_bucket_size": {"a": 1})"), "reduce_bucket_size: {…}" + kSize},
        Wrong{zero(2, R"("reduce_bucket_size": null)"), "reduce_bucket_size: null" + kSize},
        Wrong{zero(2, R"("allgather_bucket_size": "auto")"), "allgather_bucket_size: \"auto\"" + kSize + "1"},
        Wrong{zero(2, R"("allgather_bucket_size": -1)"), "allgather_bucket_size: -1" + kSize + "1"},
        Wrong{zero(3, R"("sub_group_size": 0)"), "sub_group_size: 0" + kSize + "1"},
        Wrong{zero(3, R"("stage3_prefetch_bucket_size": -1)"),
              "stage3_prefetch_bucket_size: -1" + kSize + "0"},
        Wrong{zero(3, R"("stage3_param_persistence_threshold": true)"),
              "stage3_param_persistence_threshold: true" + kSize + "0"},
        Wrong{zero(3, R"("stage3_max_live_parameters": [])"),
              "stage3_max_live_parameters: […]" + kSize + "0"},
        Wrong{zero(1, R"("stage3_max_reuse_distance": -5e3)"),
              "stage3_max_reuse_distance: -5000.0" + kSize + "0"},
        // Switches.
        Wrong{zero(2, R"("overlap_comm": 1)"), "zero_optimization.overlap_comm: 1 must be true or false"},
        Wrong{zero(2, R"("contiguous_gradients": "yes")"),
              "contiguous_gradients: \"yes\" must be true or false"},
        Wrong{zero(2, R"("reduce_scatter": null)"), "reduce_scatter: null must be true or false"},
        // Offload.
        Wrong{zero(3, R"("offload_param": "cpu")"),
              "zero_optimization.offload_param: \"cpu\" must be an object"},
        Wrong{zero(3, R"("offload_param": {"device": "gpu"})"),
              R"(offload_param.device: "gpu" must be one of "none", "cpu", "nvme")"},
        Wrong{zero(3, R"("offload_param": {"device": "nvme"})"),
              "offload_param.nvme_path: null must be a folder"},
        Wrong{zero(2, R"("offload_optimizer": {"device": "nvme", "nvme_path": ""})"),
              "offload_optimizer.nvme_path: \"\" must be a folder"},
        Wrong{zero(2, R"("offload_optimizer": {"device": "nvme", "nvme_path": 3})"),
              "nvme_path: 3 must be a text"},
        Wrong{zero(2, R"("offload_optimizer": {"pin_memory": 3})"), "pin_memory: 3 must be true or false"},
        // The rest.
        Wrong{R"({"fp16": {"enabled": true}})",
              "fp16.enabled: true must be false: this trainer computes in bf16 or fp32"},
        Wrong{R"({"bf16": {"enabled": 1}})", "bf16.enabled: 1 must be true or false, or \"auto\""},
        Wrong{R"({"bf16": true})", "bf16: true must be an object"},
        Wrong{R"({"gradient_clipping": -1})",
              "gradient_clipping: -1 must be a number of at least 0, or \"auto\""},
        Wrong{R"({"gradient_clipping": "1"})", "gradient_clipping: \"1\" must be a number"},
        Wrong{R"({"gradient_accumulation_steps": 0})",
              "gradient_accumulation_steps: 0 must be a whole number from 1"},
        Wrong{R"({"train_micro_batch_size_per_gpu": 1.5})", "train_micro_batch_size_per_gpu: 1.5 must be"},
        Wrong{R"({"train_batch_size": 0})", "train_batch_size: 0 must be"}));

TEST(DeepSpeedConfig, UnreadableFilesAreNamed) {
  for (const char* path : {"/no/such.json", "/"}) {
    const auto config = read_deepspeed_config(path, kHidden);
    ASSERT_FALSE(config.ok());
    EXPECT_THAT(config.error().message, HasSubstr(path));
  }
}

class SharedConfig : public ::testing::Test {
 protected:
  static std::string path(const std::string& name) {
    return std::string(LOCKSTEP_SOURCE_DIR) + "/../shared/configs/" + name;
  }
  static DeepSpeedConfig read(const std::string& name) {
    auto config = read_deepspeed_config(path(name), 4096);
    EXPECT_TRUE(config.ok()) << config.error().message;
    return config.value();
  }
  void SetUp() override {
    if (!std::filesystem::exists(path("zero2.json"))) GTEST_SKIP() << "no " << path("zero2.json");
  }
};

TEST_F(SharedConfig, Zero2) {
  const DeepSpeedConfig config = read("zero2.json");
  EXPECT_EQ(config.zero.stage, 2);
  EXPECT_TRUE(config.zero.overlap_comm);
  EXPECT_EQ(config.batch.accumulation, 4);
  EXPECT_EQ(config.gradient_clipping, 1.0);
  EXPECT_EQ(config.bf16, true);
  EXPECT_THAT(config.warnings, ElementsAre(HasSubstr("wall_clock_breakdown: ignored")));
}

TEST_F(SharedConfig, Zero3) {
  const DeepSpeedConfig config = read("zero3.json");
  EXPECT_EQ(config.zero.stage, 3);
  EXPECT_EQ(config.zero.prefetch_bucket_size, 500'000'000);
  EXPECT_EQ(config.zero.param_persistence_threshold, 1'000'000);
  EXPECT_THAT(config.warnings,
              ElementsAre(HasSubstr("zero_optimization.stage3_gather_16bit_weights_on_model_save: ignored"),
                          HasSubstr("wall_clock_breakdown: ignored")));
}

TEST_F(SharedConfig, Zero3Offload) {
  const DeepSpeedConfig config = read("zero3-cpu-offload.json");
  EXPECT_EQ(config.zero.offload_optimizer.device, OffloadDevice::cpu);
  EXPECT_EQ(config.zero.offload_param.device, OffloadDevice::cpu);
  EXPECT_EQ(config.batch.accumulation, 8);
}

TEST_F(SharedConfig, Llama) {
  const DeepSpeedConfig config = read("llama-3-8b-stage3.json");
  EXPECT_EQ(config.zero.sub_group_size, 100'000'000);
  EXPECT_EQ(config.zero.reduce_bucket_size, 50'000'000);
  EXPECT_EQ(config.zero.param_persistence_threshold, 40'960);
  EXPECT_EQ(config.zero.max_live_parameters, 100'000'000);
  EXPECT_EQ(config.gradient_clipping, std::nullopt);
  EXPECT_EQ(config.batch.accumulation, std::nullopt);
}

// Any damage gives a configuration or an error that names the file; never a crash, never a value out of
// range.
TEST(DeepSpeedConfig, DamagedTextParsesOrIsRefused) {
  const std::string whole =
      R"({"bf16": {"enabled": "auto"}, "train_batch_size": 1e2, "gradient_clipping": 1.0,
    "zero_optimization": {"stage": 3, "overlap_comm": true, "reduce_bucket_size": 5e8, "sub_group_size": "auto",
    "stage3_max_live_parameters": -0, "offload_param": {"device": "nvme", "nvme_path": "\u00e9/x"}}})";
  const std::string letters = "{}[]\",:0123456789eE+-.\\utrfalsn \n\x01\x80\xff";
  std::mt19937 random(1);
  const auto below = [&random](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  int accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = whole;
    for (std::size_t edits = 1 + below(4); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = letters[below(letters.size())];
          break;
        case 1:
          text.erase(at, 1 + below(8));
          break;
        case 2:
          text.insert(at, text.substr(below(text.size()), below(20)));
          break;
        default:
          text.insert(at, 1, letters[below(letters.size())]);
      }
    }
    const auto config = parse(text);
    if (!config.ok()) {
      ++refused;
      ASSERT_THAT(config.error().message, StartsWith("my.json: ")) << text;
      continue;
    }
    ++accepted;
    const ZeroOptions& options = config.value().zero;
    ASSERT_TRUE(options.stage >= 1 && options.stage <= 3) << text;
    ASSERT_GE(std::min({options.reduce_bucket_size, options.allgather_bucket_size, options.sub_group_size}),
              1);
    ASSERT_GE(
        std::min({options.prefetch_bucket_size, options.max_live_parameters, options.max_reuse_distance}), 0);
    ASSERT_TRUE(options.offload_param.device != OffloadDevice::nvme ||
                !options.offload_param.nvme_path.empty());
  }
  EXPECT_GT(refused, 1000);
  EXPECT_EQ(accepted + refused, 20000);
}

TEST(DeepSpeedConfig, DeepNestingIsNoDanger) {
  const std::size_t depth = 200'000;
  EXPECT_FALSE(
      parse(zero(2, "\"reduce_bucket_size\": " + std::string(depth, '[') + std::string(depth, ']'))).ok());
  std::string objects;
  for (std::size_t i = 0; i < depth; ++i) objects += "{\"a\":";
  objects += "1";
  EXPECT_FALSE(parse(objects).ok());
  EXPECT_TRUE(parse(zero(2, "\"x\": " + std::string(depth, '[') + std::string(depth, ']'))).ok());
}

using Known = std::optional<std::int64_t>;

TEST(BatchSizes, TheThirdFollowsFromTwo) {
  const auto solve = [](Known micro, Known accumulation, Known whole) {
    const auto solved = solve_batch_sizes({micro, accumulation, whole}, 4, 5);
    return solved.ok() ? std::pair(solved.value().micro_batch, solved.value().accumulation)
                       : std::pair(std::int64_t{-1}, std::int64_t{-1});
  };
  const auto is = [](std::int64_t micro, std::int64_t accumulation) {
    return std::pair(micro, accumulation);
  };
  const Known none;
  EXPECT_EQ(solve(2, 3, 24), is(2, 3));
  EXPECT_EQ(solve(2, none, 24), is(2, 3));
  EXPECT_EQ(solve(none, 3, 24), is(2, 3));
  EXPECT_EQ(solve(none, none, 24), is(6, 1));
  EXPECT_EQ(solve(2, 3, none), is(2, 3));
  EXPECT_EQ(solve(2, none, none), is(2, 1));
  EXPECT_EQ(solve(none, 3, none), is(5, 3));
  EXPECT_EQ(solve(none, none, none), is(5, 1));
  EXPECT_EQ(solve(2, 3, 25), is(-1, -1));
  EXPECT_EQ(solve(2, none, 25), is(-1, -1));
  EXPECT_EQ(solve(none, 3, 25), is(-1, -1));
  EXPECT_EQ(solve(none, none, 3), is(-1, -1));
}

TEST(BatchSizes, ErrorsNameKeysAndValues) {
  EXPECT_EQ(
      solve_batch_sizes({2, 3, 25}, 4, 1).error().message,
      "train_batch_size 25 is not train_micro_batch_size_per_gpu 2 x gradient_accumulation_steps 3 x 4 ranks "
      "= 24; change one, or make one \"auto\"");
  EXPECT_EQ(solve_batch_sizes({2, std::nullopt, 25}, 4, 1).error().message,
            "train_batch_size 25 is not a multiple of train_micro_batch_size_per_gpu 2 x 4 ranks = 8");
}

}  // namespace
}  // namespace lockstep::trainer
