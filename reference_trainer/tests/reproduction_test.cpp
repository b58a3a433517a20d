// A log says enough to run its job again: with "configuration" given back by --config and "deepspeed" by
// --deepspeed, the second log begins as the first one, and its losses are the same to the last bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference_trainer/tests/small_job.h"
#include "reference_trainer/tests/tried_modes.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;

class Reproduction : public SmallJob, public testing::WithParamInterface<TriedJob> {
 protected:
  // Not even the model is as usual.
  Reproduction() : SmallJob({"--hidden", "16", "--heads", "4", "--sequence-length", "8"}) {}
};

TEST_P(Reproduction, TheLogIsEnough) {
  const TriedJob& job = GetParam();
  Arguments flags{"--ranks", "2", "--steps", "3", "--seed", "5", "--learning-rate", "0.0037"};
  if (!job.zero_optimization.is_null()) {
    write_file(folder_.file("deepspeed.json"), json{{"zero_optimization", job.zero_optimization}}.dump());
    flags = flags + Arguments{"--deepspeed", folder_.file("deepspeed.json")};
  }
  const std::vector<json> first = log(flags + job.flags);

  const json start = events(first, "start").at(0);
  write_file(folder_.file("config.json"), start.at("configuration").dump());
  Arguments again{"--config", folder_.file("config.json"), "--log", folder_.file("log")};
  EXPECT_EQ(start.at("deepspeed").is_null(), job.zero_optimization.is_null());
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
std::vector<TriedJob> jobs() {
  std::vector<TriedJob> jobs = tried_jobs("reproduction");
  jobs.push_back({.name = "paced_llama",
                  .flags = {"--model", "llama", "--device", "paced", "--flops", "1e12", "--jitter", "0.1",
                            "--bandwidth", "1e9", "--latency", "3", "--dtype", "float64"}});
  return jobs;
}

INSTANTIATE_TEST_SUITE_P(Modes, Reproduction, testing::ValuesIn(jobs()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lockstep::trainer
