#include "reference_trainer/logging/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference_trainer/modes/ddp/mode.h"
#include "reference_trainer/modes/zero/mode.h"
#include "reference_trainer/modes/zero/options.h"

namespace lockstep::trainer {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

const Text kText{.bytes = "some text", .source = "here"};

Options usual() {
  Options options;
  options.mode = &Ddp::mode;
  return options;
}

std::string difference(const Options& first, const Options& other, const Text& text = kText) {
  return disagreement(shared_configuration(first, 2, kText), shared_configuration(other, 2, text), 1);
}

TEST(Agreement, WhatARankMayHaveForItselfIsNoDifference) {
  Options other = usual();
  other.log = "log";
  other.data = "/its/own/place";
  other.threads = 7;
  other.timeout_seconds = 9;
  EXPECT_EQ(difference(usual(), other), "");
  EXPECT_EQ(difference(usual(), usual(), {.bytes = kText.bytes, .source = "elsewhere"}), "");
}

TEST(Agreement, TheFirstFlagThatDiffersIsNamed) {
  Options first = usual(), other = usual();
  first.model.hidden = 32;
  other.model.hidden = 64;
  other.training.seed = 9;
  EXPECT_EQ(difference(first, other), "rank 1 has --hidden 64, rank 0 has 32: give all ranks the same flags");
  other.model.hidden = 32;
  EXPECT_EQ(difference(first, other), "rank 1 has --seed 9, rank 0 has 1: give all ranks the same flags");
}

TEST(Agreement, WhatOnlyOneRankHasIsNamed) {
  Options faulty = usual();
  faulty.faults = {{.kind = FaultKind::pause, .place = 1, .amount = 5}};
  EXPECT_THAT(difference(usual(), faulty),
              HasSubstr("rank 1 has --fault [\"pause:rank=1,ms=5\"], rank 0 has none:"));
  EXPECT_THAT(difference(faulty, usual()),
              HasSubstr("rank 1 has no --fault, rank 0 has [\"pause:rank=1,ms=5\"]:"));
}

TEST(Agreement, DeepSpeedsKeysAreNamedByTheirPath) {
  Options first;
  first.mode = &Zero2::mode;
  first.own.get<DeepSpeedOptions>().zero = default_zero_options(2);
  Options other = first;
  other.own.get<DeepSpeedOptions>().zero.reduce_bucket_size = 77;
  EXPECT_THAT(difference(first, other),
              HasSubstr("rank 1 has --deepspeed's zero_optimization.reduce_bucket_size 77, rank 0 has "));
  other = first;
  other.own.get<DeepSpeedOptions>().zero.offload_optimizer.nvme_path = "/its/own/disk";
  EXPECT_EQ(difference(first, other), "");
}

TEST(Agreement, AnotherTextIsADifference) {
  EXPECT_THAT(difference(usual(), usual(), {.bytes = "some texT", .source = "here"}),
              ContainsRegex("rank 1 has --data of 9 bytes \\(checksum [0-9a-f]+\\), rank 0 has of 9 bytes"));
}

TEST(Agreement, WhatIsNoConfigurationIsAnotherVersion) {
  const std::string configuration = shared_configuration(usual(), 2, kText);
  EXPECT_THAT(disagreement(configuration, "\x01", 3), HasSubstr("rank 3 runs another version"));
}

}  // namespace
}  // namespace lockstep::trainer
