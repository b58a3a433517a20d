#include "reference_trainer/logging/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference_trainer/modes/ddp/mode.h"
#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;

TEST(TrainingLog, HoldsWhatItsSchemaSays) {
  const TemporaryFolder folder;
  Result<TrainingLog> created = TrainingLog::create(folder.file("log"));
  ASSERT_TRUE(created.ok());
  TrainingLog log = std::move(created).value();
  Options options;
  options.mode = &Ddp::mode;
  options.model.precision = Precision::float64;
  options.faults = {{.kind = FaultKind::pause, .place = 1, .amount = 5}};
  log.start(options, {.world_size = 4,
                      .text_source = "bad \xff name",
                      .text_bytes = 100,
                      .sequences = 9,
                      .parameters = {{"a", 3, 24}, {"b", 5, 40}}});
  log.buckets(2, true, {{64, {"b", "a"}}});
  log.step({.step = 2,
            .loss = 1.5,
            .gradient_norm = 0.25,
            .seconds = 0.5,
            .tokens_per_second = 512,
            .all_reduces = 1,
            .all_reduce_bytes = 64});
  ASSERT_TRUE(log.close().ok());

  const std::vector<json> lines = read_json_lines(folder.file("log"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].at("schema"), "lockstep.train/1");
  EXPECT_EQ(lines[0].at("world_size"), 4);
  EXPECT_EQ(lines[0].at("times"), "measured");
  EXPECT_EQ(lines[0].at("parameter_count"), 8);
  EXPECT_EQ(lines[0].at("gradient_bytes"), 64);
  EXPECT_EQ(lines[0].at("parameters").at(1), (json{{"name", "b"}, {"elements", 5}, {"bytes", 40}}));
  EXPECT_EQ(lines[0].at("text").at("source"), "bad \xEF\xBF\xBD name");
  EXPECT_EQ(lines[0].at("configuration").at("dtype"), "float64");
  EXPECT_EQ(lines[0].at("configuration").at("fault"), json({"pause:rank=1,ms=5"}));
  EXPECT_EQ(lines[0].at("deepspeed"), nullptr);
  EXPECT_EQ(lines[1], (json{{"event", "buckets"},
                            {"step", 2},
                            {"when", "rebuilt"},
                            {"buckets", json::array({{{"bytes", 64}, {"parameters", {"b", "a"}}}})}}));
  EXPECT_EQ(lines[2], (json{{"event", "step"},
                            {"step", 2},
                            {"loss", 1.5},
                            {"gradient_norm", 0.25},
                            {"tokens_per_second", 512.0},
                            {"seconds", 0.5},
                            {"all_reduces", 1},
                            {"all_reduce_bytes", 64}}));
}

TEST(TrainingLog, WhatNobodyCountsIsLeftOut) {
  const TemporaryFolder folder;
  Result<TrainingLog> created = TrainingLog::create(folder.file("log"));
  ASSERT_TRUE(created.ok());
  TrainingLog log = std::move(created).value();
  log.step({.step = 1});
  ASSERT_TRUE(log.close().ok());
  const json line = read_json_lines(folder.file("log")).at(0);
  EXPECT_FALSE(line.contains("all_reduces")) << line;
  EXPECT_FALSE(line.contains("all_reduce_bytes")) << line;
}

TEST(TrainingLog, TimesOfAPacedDeviceAreCalledModelled) {
  const TemporaryFolder folder;
  Result<TrainingLog> created = TrainingLog::create(folder.file("log"));
  ASSERT_TRUE(created.ok());
  TrainingLog log = std::move(created).value();
  Options options;
  options.mode = &Ddp::mode;
  options.device = Device::paced;
  log.start(options, {});
  ASSERT_TRUE(log.close().ok());
  EXPECT_EQ(read_json_lines(folder.file("log")).at(0).at("times"), "modelled");
}

TEST(Headline, ReadsAsDocumented) {
  Options options;
  const StartRecord record{.world_size = 4,
                           .text_source = "here",
                           .text_bytes = 100,
                           .sequences = 9,
                           .parameters = {{"a", 2'780'000, 11'120'000}}};
  const std::string end = "; 9 sequences of 64 tokens from 'here'";
  EXPECT_EQ(headline(options, record), "2.78 million parameters in float32 on 4 ranks" + end);
  options.device = Device::paced;
  EXPECT_EQ(
      headline(options, record),
      "2.78 million parameters in float32 on 4 ranks of a paced device (modelled times, not measured)" + end);
}

TEST(TrainingLog, WithoutAFileNothingIsWritten) {
  TrainingLog log;
  log.step({});
  EXPECT_TRUE(log.close().ok());
}

TEST(TrainingLog, FullDiskIsReported) {
  Result<TrainingLog> created = TrainingLog::create("/dev/full");
  ASSERT_TRUE(created.ok());
  TrainingLog log = std::move(created).value();
  log.step({});
  const Status status = log.close();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, ::testing::HasSubstr("/dev/full"));
}

TEST(ProgressLine, ReadsAsDocumented) {
  EXPECT_EQ(progress_line({.step = 3,
                           .loss = 4.2173409,
                           .gradient_norm = 1.2344,
                           .seconds = 0.142,
                           .tokens_per_second = 12345.2}),
            "step 3  loss 4.217341  tokens/s 12345  gradient norm 1.234  142 ms");
}

}  // namespace
}  // namespace lockstep::trainer
