// --config: JSON has types, and the flags hold it to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "reference_trainer/command_line/command_line.h"
#include "reference_trainer/modes/ddp/options.h"
#include "reference_trainer/modes/fsdp/mode.h"
#include "reference_trainer/modes/fsdp/options.h"
#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {
namespace {

using testing::HasSubstr;

class JsonConfigFile : public testing::Test {
 protected:
  CommandLine parse(const std::string& json, std::vector<const char*> more = {}) const {
    write_file(file_, json);
    more.insert(more.begin(), {"lockstep-train", "--config", file_.c_str()});
    return parse_command_line(static_cast<int>(more.size()), more.data());
  }

  TemporaryFolder folder_;
  std::string file_ = folder_.file("job.json");
};

TEST_F(JsonConfigFile, FlagsOfEachKind) {
  const CommandLine line = parse(
      R"({"mode": "fsdp", "layers": 3, "learning_rate": 0.5, "forward-prefetch": true, "cpu-offload": false,)"
      R"( "fault": ["slow_rank:rank=1", "pause"]})");
  ASSERT_FALSE(line.exits) << line.output;
  EXPECT_EQ(line.options.mode, &Fsdp::mode);
  EXPECT_EQ(line.options.model.layers, 3);
  EXPECT_EQ(line.options.training.learning_rate, 0.5);
  EXPECT_TRUE(line.options.own.get<FsdpOptions>().forward_prefetch);
  EXPECT_FALSE(line.options.own.get<FsdpOptions>().cpu_offload);
  EXPECT_EQ(line.options.faults.size(), 2u);
}

TEST_F(JsonConfigFile, AFlagThatSwitchesOffMayBeNamedForWhatItSwitches) {
  EXPECT_FALSE(parse(R"({"mode": "fsdp", "limit_all_gathers": false})")
                   .options.own.get<FsdpOptions>()
                   .limit_all_gathers);
  EXPECT_TRUE(parse(R"({"mode": "fsdp", "limit_all_gathers": true})")
                  .options.own.get<FsdpOptions>()
                  .limit_all_gathers);
  EXPECT_FALSE(parse(R"({"mode": "fsdp", "no-limit-all-gathers": true})")
                   .options.own.get<FsdpOptions>()
                   .limit_all_gathers);
  EXPECT_FALSE(
      parse(R"({"gradient-as-bucket-view": false})").options.own.get<DdpOptions>().gradient_as_bucket_view);
}

TEST_F(JsonConfigFile, FlagsWinOverItAndTheLastOfTwoWins) {
  EXPECT_EQ(parse(R"({"layers": 3})", {"--layers", "4"}).options.model.layers, 4);
  EXPECT_EQ(parse("{}", {"--layers", "4", "--layers", "5"}).options.model.layers, 5);
}

TEST_F(JsonConfigFile, WhatCannotBeRightIsRefusedWithFileAndKey) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {R"({"layers": "4"})", R"("layers": "4" must be a number)"},
      {R"({"layers": true})", R"("layers": true must be a number)"},
      {R"({"layers": [1, 2]})", R"("layers": [1,2] must be)"},
      {R"({"layers": null})", R"("layers": null must be)"},
      {R"({"layers": 1e400})", "not JSON: "},
      {R"({"layers": 3)", "not JSON: "},
      {R"([1])", "must be a JSON object"},
      {R"({"mode": 7})", R"("mode": 7 must be a text)"},
      {R"({"forward-prefetch": "yes"})", R"("forward-prefetch": "yes" must be true or false)"},
      {R"({"forward-prefetch": 5})", R"("forward-prefetch": 5 must be true or false)"},
      {R"({"gradient-accumulation": 2, "microbatches": 3})", "are the same flag"},
      {R"({"zzzz": 3})", "no flag is named --zzzz\n"},
      {R"({"hiden": 3})", "no flag is named --hiden; did you mean --hidden?"},
      {R"({"limit_all_gathers": 1})", R"("limit_all_gathers": 1 must be true or false)"},
      {R"({"limit_all_gathers": false, "no_limit_all_gathers": true})", "are the same flag"},
  };
  for (const auto& [json, message] : wrong) {
    const CommandLine line = parse(json);
    EXPECT_EQ(line.exit_code, 2) << json;
    EXPECT_THAT(line.output, HasSubstr("--config " + file_ + ": ")) << json;
    EXPECT_THAT(line.output, HasSubstr(message)) << json;
  }
}

}  // namespace
}  // namespace lockstep::trainer
