#include "reference_trainer/modes/zero/deepspeed_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reference_trainer/command_line/command_line.h"
#include "reference_trainer/modes/zero/mode.h"
#include "reference_trainer/modes/zero/options.h"
#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {
namespace {

using ::testing::HasSubstr;

class DeepSpeedFlags : public ::testing::Test {
 protected:
  // With a configuration of this text.
  CommandLine parse(const std::string& text, std::vector<std::string> arguments = {}) {
    write_file(file_, text);
    arguments.insert(arguments.begin(), {"lockstep-train", "--deepspeed", file_});
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    return parse_command_line(static_cast<int>(pointers.size()), pointers.data());
  }

  TemporaryFolder folder_;
  const std::string file_ = folder_.file("my.json");
};

const std::string kAll = R"({"bf16": {"enabled": true}, "gradient_clipping": 0.5,
  "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 3, "train_batch_size": 24,
  "zero_optimization": {"stage": 2, "reduce_bucket_size": "auto"}, "x": 1})";

TEST_F(DeepSpeedFlags, TheFileSetsTheTrainersOptions) {
  CommandLine line = parse(kAll, {"--hidden", "30"});
  ASSERT_FALSE(line.exits) << line.output;
  EXPECT_EQ(line.options.mode, &Zero2::mode);
  EXPECT_EQ(line.options.own.get<DeepSpeedOptions>().zero.stage, 2);
  EXPECT_EQ(line.options.own.get<DeepSpeedOptions>().zero.reduce_bucket_size, 900);
  EXPECT_EQ(line.options.model.precision, Precision::bfloat16);
  EXPECT_EQ(line.options.training.clip_grad_norm, 0.5);
  EXPECT_EQ(line.options.training.batch_size, 2);
  EXPECT_EQ(line.options.training.gradient_accumulation, 3);
  EXPECT_EQ(line.options.warnings, std::vector<std::string>{file_ + ": x: ignored"});
  EXPECT_TRUE(settle_batch_sizes(line.options, 4).ok());
  EXPECT_THAT(settle_batch_sizes(line.options, 2).error().message,
              HasSubstr(file_ + ": train_batch_size 24"));
}

TEST_F(DeepSpeedFlags, WhatTheFileLeavesOpenIsTheFlags) {
  const std::string text = R"({"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 3}})";
  const CommandLine line = parse(text, {"--mode", "zero3", "--dtype", "float64", "--batch-size", "7",
                                        "--gradient-accumulation", "2", "--clip-grad-norm", "3"});
  ASSERT_FALSE(line.exits) << line.output;
  Options options = line.options;
  EXPECT_TRUE(settle_batch_sizes(options, 2).ok());
  EXPECT_EQ(options.training.batch_size, 7);
  EXPECT_EQ(options.training.gradient_accumulation, 2);
  EXPECT_EQ(options.training.clip_grad_norm, 3);
  EXPECT_EQ(options.model.precision, Precision::float64);
}

TEST_F(DeepSpeedFlags, TheWholeBatchDecidesWhatIsOpen) {
  const std::string text = R"({"train_batch_size": 24, "zero_optimization": {"stage": 1}})";
  Options options = parse(text, {"--batch-size", "3"}).options;
  ASSERT_TRUE(settle_batch_sizes(options, 4).ok());
  EXPECT_EQ(options.training.batch_size, 3);
  EXPECT_EQ(options.training.gradient_accumulation, 2);
  options = parse(text).options;
  ASSERT_TRUE(settle_batch_sizes(options, 4).ok());
  EXPECT_EQ(options.training.batch_size, 6);
  EXPECT_EQ(options.training.gradient_accumulation, 1);
  options = parse(R"({"train_batch_size": 1e12, "zero_optimization": {"stage": 1}})").options;
  EXPECT_THAT(settle_batch_sizes(options, 4).error().message, HasSubstr("train_batch_size 1000000000000"));
}

TEST_F(DeepSpeedFlags, ContradictionsNameBoth) {
  const auto contradict = [this](const std::vector<std::string>& flag, const std::string& key) {
    const CommandLine line = parse(kAll, flag);
    EXPECT_EQ(line.exit_code, 2);
    EXPECT_THAT(line.output, HasSubstr(flag[0] + " " + flag[1] + " and " + key + " of --deepspeed " + file_ +
                                       " contradict"));
  };
  contradict({"--mode", "zero3"}, "zero_optimization.stage: 2");
  contradict({"--mode", "ddp"}, "zero_optimization.stage: 2");
  contradict({"--dtype", "float32"}, "bf16.enabled: true");
  contradict({"--batch-size", "4"}, "train_micro_batch_size_per_gpu: 2");
  contradict({"--gradient-accumulation", "4"}, "gradient_accumulation_steps: 3");
  contradict({"--clip-grad-norm", "0"}, "gradient_clipping: 0.5");
  // The same twice is no contradiction.
  EXPECT_FALSE(parse(kAll, {"--mode", "zero2", "--dtype", "bfloat16", "--batch-size", "2", "--clip-grad-norm",
                            "0.5", "--gradient-accumulation", "3"})
                   .exits);
  EXPECT_EQ(
      parse(R"({"bf16": {"enabled": false}, "zero_optimization": {"stage": 1}})", {"--dtype", "bfloat16"})
          .exit_code,
      2);
}

TEST_F(DeepSpeedFlags, MistakesInTheFileAreWrongUse) {
  const CommandLine line = parse(R"({"zero_optimization": {"stage": 9}})");
  EXPECT_EQ(line.exit_code, 2);
  EXPECT_THAT(line.output, HasSubstr(file_ + ": zero_optimization.stage: 9 must be"));
}

TEST_F(DeepSpeedFlags, WithoutAFileTheModeSetsDeepSpeedsDefaults) {
  const char* arguments[] = {"lockstep-train", "--mode", "zero3"};
  const CommandLine line = parse_command_line(3, arguments);
  EXPECT_EQ(line.options.own.get<DeepSpeedOptions>().zero.stage, 3);
  EXPECT_TRUE(line.options.own.get<DeepSpeedOptions>().zero.overlap_comm);
  EXPECT_EQ(check_options(line.options, 1).error().message.substr(0, 12), "--mode zero3");
  EXPECT_TRUE(check_options(line.options, 2).ok());
}

}  // namespace
}  // namespace lockstep::trainer
