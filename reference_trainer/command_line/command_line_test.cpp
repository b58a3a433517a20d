#include "reference_trainer/command_line/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reference_trainer/modes/ddp/mode.h"
#include "reference_trainer/modes/ddp/options.h"
#include "reference_trainer/modes/fsdp/mode.h"
#include "reference_trainer/modes/fsdp/options.h"
#include "reference_trainer/modes/modes.h"

namespace lockstep::trainer {
namespace {

using ::testing::HasSubstr;

CommandLine parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "lockstep-train");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, DefaultsAreValid) {
  const CommandLine line = parse({});
  EXPECT_FALSE(line.exits);
  EXPECT_EQ(line.options.ranks, 0);
  EXPECT_EQ(line.options.model.precision, Precision::float32);
  EXPECT_EQ(line.options.slow.rank, -1);
  EXPECT_TRUE(check_options(line.options, 1).ok());
}

TEST(Options, EveryFlagReachesItsField) {
  const CommandLine line = parse({"--ranks",
                                  "4",
                                  "--device",
                                  "cpu",
                                  "--threads",
                                  "2",
                                  "--timeout",
                                  "9",
                                  "--data",
                                  "d",
                                  "--log",
                                  "l",
                                  "--layers",
                                  "3",
                                  "--hidden",
                                  "24",
                                  "--heads",
                                  "4",
                                  "--sequence-length",
                                  "17",
                                  "--dtype",
                                  "float64",
                                  "--steps",
                                  "5",
                                  "--batch-size",
                                  "6",
                                  "--gradient-accumulation",
                                  "7",
                                  "--learning-rate",
                                  "0.5",
                                  "--clip-grad-norm",
                                  "0",
                                  "--seed",
                                  "8",
                                  "--bucket-cap-mb",
                                  "25",
                                  "--first-bucket-mb",
                                  "0.5",
                                  "--slow-rank",
                                  "1",
                                  "--slow-factor",
                                  "3"});
  ASSERT_FALSE(line.exits) << line.output;
  const Options& options = line.options;
  EXPECT_EQ(options.ranks, 4);
  EXPECT_EQ(options.device, Device::cpu);
  EXPECT_EQ(options.threads, 2);
  EXPECT_EQ(options.timeout_seconds, 9);
  EXPECT_EQ(options.data, "d");
  EXPECT_EQ(options.log, "l");
  EXPECT_EQ(options.model.layers, 3);
  EXPECT_EQ(options.model.hidden, 24);
  EXPECT_EQ(options.model.heads, 4);
  EXPECT_EQ(options.model.sequence_length, 17);
  EXPECT_EQ(options.model.precision, Precision::float64);
  EXPECT_EQ(options.training.steps, 5);
  EXPECT_EQ(options.training.batch_size, 6);
  EXPECT_EQ(options.training.gradient_accumulation, 7);
  EXPECT_EQ(options.training.learning_rate, 0.5);
  EXPECT_EQ(options.training.clip_grad_norm, 0);
  EXPECT_EQ(options.training.seed, 8u);
  EXPECT_EQ(options.own.get<DdpOptions>().cap_bytes, 25 * 1024 * 1024);
  EXPECT_EQ(options.own.get<DdpOptions>().first_bytes, 512 * 1024);
  EXPECT_EQ(options.slow.rank, 1);
  EXPECT_EQ(options.slow.factor, 3);
}

TEST(Options, HelpIsNoError) {
  const CommandLine line = parse({"--help"});
  EXPECT_TRUE(line.exits);
  EXPECT_EQ(line.exit_code, 0);
  for (const char* part : {"--bucket-cap-mb", "--gradient-accumulation", "Examples:", "torchrun"}) {
    EXPECT_THAT(line.output, HasSubstr(part));
  }
}

using FlagAndValue = std::pair<std::string, std::string>;
class WrongValue : public ::testing::TestWithParam<FlagAndValue> {};

TEST_P(WrongValue, IsRefusedByNameAndValue) {
  const auto& [flag, value] = GetParam();
  const CommandLine line = parse({flag.c_str(), value.c_str()});
  EXPECT_TRUE(line.exits);
  EXPECT_EQ(line.exit_code, 2);
  EXPECT_THAT(line.output, HasSubstr(flag));
  EXPECT_THAT(line.output, HasSubstr(value));
}

INSTANTIATE_TEST_SUITE_P(
    Flags, WrongValue,
    ::testing::Values(FlagAndValue{"--ranks", "0"}, FlagAndValue{"--ranks", "1025"},
                      FlagAndValue{"--ranks", "2x"}, FlagAndValue{"--layers", "-1"},
                      FlagAndValue{"--hidden", "0"}, FlagAndValue{"--heads", "1.5"},
                      FlagAndValue{"--sequence-length", "99999999999999999999"}, FlagAndValue{"--steps", "0"},
                      FlagAndValue{"--batch-size", "0"}, FlagAndValue{"--gradient-accumulation", "0"},
                      FlagAndValue{"--learning-rate", "0"}, FlagAndValue{"--learning-rate", "nan"},
                      FlagAndValue{"--learning-rate", "inf"}, FlagAndValue{"--learning-rate", "fast"},
                      FlagAndValue{"--clip-grad-norm", "-1"}, FlagAndValue{"--bucket-cap-mb", "0"},
                      FlagAndValue{"--first-bucket-mb", "-3"}, FlagAndValue{"--seed", "-1"},
                      FlagAndValue{"--dtype", "float16"}, FlagAndValue{"--mode", "sideways"},
                      FlagAndValue{"--sharding-strategy", "some"}, FlagAndValue{"--backward-prefetch", "PRE"},
                      FlagAndValue{"--device", "tpu"}, FlagAndValue{"--slow-rank", "-1"},
                      FlagAndValue{"--slow-factor", "0"}, FlagAndValue{"--threads", "0"},
                      FlagAndValue{"--model", "bert"}, FlagAndValue{"--kv-heads", "0"},
                      FlagAndValue{"--intermediate-size", "0"}, FlagAndValue{"--fault", "slow_rank:factor=9"},
                      FlagAndValue{"--fault", "pause:ms=soon"}, FlagAndValue{"--timeout", "0"},
                      FlagAndValue{"--no-such-flag", "1"}));

TEST(Options, StrayArgumentIsRefused) {
  const CommandLine line = parse({"stray"});
  EXPECT_EQ(line.exit_code, 2);
  EXPECT_THAT(line.output, HasSubstr("stray"));
}

TEST(Options, CombinationsAreChecked) {
  EXPECT_FALSE(check_options(parse({"--hidden", "100", "--heads", "3"}).options, 1).ok());
  EXPECT_FALSE(check_options(parse({"--slow-rank", "4"}).options, 4).ok());
  EXPECT_TRUE(check_options(parse({"--slow-rank", "3"}).options, 4).ok());
}

TEST(Options, DevicesHaveFlagsOfTheirOwn) {
  const auto error = [](std::vector<const char*> arguments) {
    return check_options(parse(std::move(arguments)).options, 2).error().message;
  };
  EXPECT_TRUE(check_options(parse({"--device", "cuda", "--backend", "nccl"}).options, 2).ok());
  EXPECT_THAT(error({"--device", "cuda", "--flops", "1e9"}), HasSubstr("they need --device paced"));
  EXPECT_THAT(error({"--device", "paced"}), HasSubstr("Give --flops"));
  EXPECT_THAT(error({"--backend", "nccl"}), HasSubstr("--backend nccl needs --device cuda"));
  EXPECT_THAT(error({"--device", "cuda", "--backend", "nccl", "--mode", "pipeline", "--layers", "2"}),
              HasSubstr("give --backend gloo"));
  EXPECT_THAT(error({"--device", "cuda", "--fault", "slow_link:mbit=100"}),
              HasSubstr("this is --device cuda"));
}

TEST(Options, NcclWhereEachRankHasAGpuAndTheModeCanDoWithIt) {
  const Options fsdp = parse({"--device", "cuda", "--mode", "fsdp"}).options;
  EXPECT_EQ(transport_of(fsdp, 2, 2), Transport::nccl);
  EXPECT_EQ(transport_of(fsdp, 2, 1), Transport::gloo);
  EXPECT_EQ(transport_of(parse({"--device", "cuda", "--mode", "pipeline"}).options, 2, 2), Transport::gloo);
  EXPECT_EQ(transport_of(parse({"--device", "cuda", "--backend", "nccl"}).options, 2, 1), Transport::nccl);
}

TEST(Options, ModesHaveFlagsOfTheirOwn) {
  const CommandLine line = parse({"--mode", "fsdp", "--sharding-strategy", "shard_grad_op",
                                  "--backward-prefetch", "post", "--forward-prefetch"});
  EXPECT_FALSE(line.exits) << line.output;
  EXPECT_EQ(line.options.mode, &Fsdp::mode);
  EXPECT_EQ(line.options.own.get<FsdpOptions>().strategy, ShardingStrategy::shard_grad_op);
  EXPECT_EQ(line.options.own.get<FsdpOptions>().backward_prefetch, BackwardPrefetch::post);
  EXPECT_TRUE(line.options.own.get<FsdpOptions>().forward_prefetch);
  EXPECT_TRUE(check_options(line.options, 2).ok());
  EXPECT_FALSE(check_options(line.options, 1).ok());
  EXPECT_FALSE(check_options(parse({"--mode", "single"}).options, 2).ok());
  for (const auto& wrong : {std::vector<const char*>{"--forward-prefetch"},
                            std::vector<const char*>{"--mode", "fsdp", "--bucket-cap-mb", "1"}}) {
    const CommandLine refused = parse(wrong);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.output, HasSubstr("belongs to --mode"));
  }
}

TEST(Options, EveryModeIsTakenByItsName) {
  EXPECT_EQ(parse({}).options.mode, &Ddp::mode);
  for (const Mode* const mode : all_modes()) EXPECT_EQ(parse({"--mode", mode->name}).options.mode, mode);
}

TEST(Options, SlowFactorNeedsASlowRank) {
  EXPECT_THAT(parse({"--slow-factor", "3"}).output, HasSubstr("--slow-rank"));
}

TEST(Options, FaultsAreCollectedInOrder) {
  const CommandLine line = parse({"--fault", "pause:ms=5", "--slow-rank", "1", "--slow-factor", "3",
                                  "--fault", "slow_loader:rank=0,steps=2-3"});
  ASSERT_FALSE(line.exits) << line.output;
  std::vector<std::string> faults;
  for (const Fault& fault : line.options.faults) faults.push_back(to_string(fault));
  EXPECT_THAT(faults, testing::ElementsAre("pause:ms=5", "slow_loader:rank=0,ms=50,steps=2-3",
                                           "slow_rank:rank=1,factor=3"));
  EXPECT_TRUE(check_options(line.options, 2).ok());
  EXPECT_THAT(check_options(parse({"--fault", "pause:rank=2"}).options, 2).error().message,
              HasSubstr("the job's ranks are 0 to 1"));
  const Options staged =
      parse({"--mode", "pipeline", "--layers", "4", "--fault", "slow_stage:stage=3"}).options;
  EXPECT_TRUE(check_options(staged, 4).ok());
  EXPECT_THAT(check_options(staged, 2).error().message, HasSubstr("the job's stages are 0 to 1"));
  EXPECT_EQ(
      check_options(parse({"--steps", "2", "--fault", "pause:ms=5,steps=7-9"}).options, 2).error().message,
      "--fault pause:ms=5,steps=7-9: it begins in step 7, and --steps 2 end before: give more steps");
  EXPECT_TRUE(check_options(parse({"--steps", "2", "--fault", "pause:steps=2-9"}).options, 2).ok());
  EXPECT_EQ(parse({"--fault", "pause", "stray"}).exit_code, 2);  // the flag takes one specification
}

TEST(Options, SizesOfLlamaBelongToIt) {
  const CommandLine line = parse({"--model", "llama", "--hidden", "64", "--heads", "8", "--kv-heads", "4",
                                  "--intermediate-size", "100"});
  ASSERT_FALSE(line.exits) << line.output;
  EXPECT_EQ(line.options.model.architecture, Architecture::llama);
  EXPECT_EQ(line.options.model.kv_heads, 4);
  EXPECT_EQ(line.options.model.intermediate_size, 100);
  EXPECT_TRUE(check_options(line.options, 1).ok());
  EXPECT_THAT(check_options(parse({"--kv-heads", "2"}).options, 1).error().message,
              HasSubstr("--kv-heads belongs to --model llama"));
  EXPECT_THAT(check_options(parse({"--model", "llama", "--kv-heads", "5"}).options, 1).error().message,
              HasSubstr("--heads 6 is not a multiple of --kv-heads 5"));
}

TEST(Options, SmallestBucketHoldsAByte) {
  EXPECT_EQ(parse({"--bucket-cap-mb", "1e-9"}).options.own.get<DdpOptions>().cap_bytes, 1);
}

}  // namespace
}  // namespace lockstep::trainer
