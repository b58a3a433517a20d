// Phases of frameworks above PyTorch, as their objects name them: DeepSpeed's engine and Megatron-core's
// schedules, in outline (stand_ins/), under `lockstep record`. Needs a Python, but neither them nor torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/end_to_end/support.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using trace::Pass;
using Passes = std::vector<std::pair<Pass, std::int32_t>>;

const std::string kFolder = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/pytorch";

struct Recorded {
  Outcome outcome;
  std::vector<trace::Step> steps;
  Passes passes;  // in their order, with their microbatches
  std::map<std::string, int> ranges;
  std::string problem;
};

class Frameworks : public testing::Test {
 protected:
  void SetUp() override {
    if (run({LOCKSTEP_PYTHON, "-c", "pass"}).exit_code != 0)
      GTEST_SKIP() << "SKIPPED: " << LOCKSTEP_PYTHON << " does not run";
  }

  static std::vector<std::string> environment(const std::string& stand_ins) {
    return {"PYTHONPATH=" + stand_ins, "RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0", "PYTHONDONTWRITEBYTECODE=1"};
  }

  // The job as it is, and recorded: it prints and ends alike.
  Recorded record(const std::string& mode, const std::string& stand_ins = kFolder + "/stand_ins") const {
    const std::vector<std::string> job{LOCKSTEP_PYTHON, kFolder + "/framework_jobs.py", mode};
    std::vector<std::string> command{binary("lockstep"), "record", "--quiet", "-o", folder_ / mode, "--"};
    command.insert(command.end(), job.begin(), job.end());
    Recorded recorded;
    recorded.outcome = run(command, environment(stand_ins));
    const Outcome alone = run(job, environment(stand_ins));
    EXPECT_EQ(recorded.outcome.exit_code, alone.exit_code);
    EXPECT_EQ(recorded.outcome.standard_output, alone.standard_output);
    EXPECT_EQ(recorded.outcome.standard_error, alone.standard_error);
    const Result<trace::Reader> opened = trace::Reader::open(folder_ / mode + "/rank-0.lst");
    if (!opened.ok()) {
      ADD_FAILURE() << opened.error().message << recorded.outcome.standard_error;
      return recorded;
    }
    read(opened.value(), recorded);
    return recorded;
  }

 private:
  static void read(const trace::Reader& reader, Recorded& recorded) {
    EXPECT_TRUE(reader.read(trace::Selection{}, recorded.steps).ok());
    std::vector<trace::DeviceActivity> computed;
    EXPECT_TRUE(reader.read(trace::Selection{}, computed).ok());
    std::sort(computed.begin(), computed.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    for (const trace::DeviceActivity& activity : computed) {
      const std::pair<Pass, std::int32_t> pass(activity.pass, activity.microbatch);
      if (recorded.passes.empty() || recorded.passes.back() != pass) recorded.passes.push_back(pass);
    }
    std::vector<trace::HostRange> ranges;
    EXPECT_TRUE(reader.read(trace::Selection{}, ranges).ok());
    for (const trace::HostRange& range : ranges) ++recorded.ranges[std::string(reader.string(range.name))];
    recorded.problem = reader.metadata().at("source.pytorch.problem");
  }

  TemporaryFolder folder_;
};

TEST_F(Frameworks, DeepSpeedStepsWhereItsEngineAppliesTheGradients) {
  const Recorded recorded = record("deepspeed");
  EXPECT_EQ(recorded.outcome.exit_code, 0) << recorded.outcome.standard_error;
  ASSERT_EQ(recorded.steps.size(), 3U) << "not one for each piece of the parameters";
  for (std::size_t i = 0; i < recorded.steps.size(); ++i) {
    EXPECT_EQ(recorded.steps[i].number, static_cast<std::int64_t>(i));
    if (i > 0) {
      EXPECT_EQ(recorded.steps[i].begin, recorded.steps[i - 1].end);
    }
  }
  EXPECT_EQ(recorded.ranges.at("forward"), 6);
  EXPECT_EQ(recorded.ranges.at("backward"), 6) << "PyTorch's backward pass is part of the engine's";
  Passes expected;
  for (int step = 0; step < 3; ++step)
    for (const Pass pass : {Pass::forward, Pass::backward, Pass::forward, Pass::backward, Pass::optimizer})
      expected.emplace_back(pass, -1);
  EXPECT_THAT(recorded.passes, ElementsAreArray(expected));
}

TEST_F(Frameworks, DeepSpeedsPipelineRunsItsMicrobatchesInOrder) {
  const Recorded recorded = record("deepspeed_pipeline");
  EXPECT_EQ(recorded.outcome.exit_code, 0) << recorded.outcome.standard_error;
  EXPECT_EQ(recorded.steps.size(), 2U);
  const auto f = [](std::int32_t number) { return std::pair(Pass::forward, number); };
  const auto b = [](std::int32_t number) { return std::pair(Pass::backward, number); };
  Passes expected;
  for (int step = 0; step < 2; ++step)
    for (const auto& pass : {f(0), f(1), b(0), f(2), b(1), b(2), std::pair(Pass::optimizer, -1)})
      expected.push_back(pass);
  EXPECT_THAT(recorded.passes, ElementsAreArray(expected));
}

TEST_F(Frameworks, WhatTheModelRaisesPassesThroughAndNothingStaysOpen) {
  const Recorded recorded = record("failing");
  EXPECT_THAT(recorded.outcome.standard_output, HasSubstr("error 3"));
  EXPECT_EQ(recorded.steps.size(), 3U);
  EXPECT_EQ(recorded.ranges.at("forward"), 6);
  EXPECT_EQ(recorded.ranges.at("backward"), 4);
}

TEST_F(Frameworks, MegatronsPassesAreNumberedByTheirMicrobatch) {
  const Recorded recorded = record("megatron");
  EXPECT_EQ(recorded.outcome.exit_code, 0) << recorded.outcome.standard_error;
  EXPECT_EQ(recorded.steps.size(), 2U);
  EXPECT_EQ(recorded.ranges.at("forward"), 8);
  EXPECT_EQ(recorded.ranges.at("backward"), 8);
  const auto f = [](std::int32_t number) { return std::pair(Pass::forward, number); };
  const auto b = [](std::int32_t number) { return std::pair(Pass::backward, number); };
  Passes expected;
  for (int step = 0; step < 2; ++step)
    for (const auto& pass : {f(0), f(1), b(0), f(2), b(1), f(3), b(2), b(3), std::pair(Pass::optimizer, -1)})
      expected.push_back(pass);
  EXPECT_THAT(recorded.passes, ElementsAreArray(expected));
}

// Not in the order of the forward passes: each backward pass is known by what it is handed.
TEST_F(Frameworks, MegatronsChunksTurnRoundEachInItsOwnOrder) {
  const Recorded recorded = record("virtual");
  const auto f = [](std::int32_t number) { return std::pair(Pass::forward, number); };
  const auto b = [](std::int32_t number) { return std::pair(Pass::backward, number); };
  EXPECT_THAT(recorded.passes,
              ElementsAre(f(0), f(1), f(0), f(1), b(0), b(1), b(0), std::pair(Pass::optimizer, -1)));
}

// Another version, that lacks what we look for: it runs as it is, and the run says what could not be
// followed.
TEST_F(Frameworks, AnEngineOfAnotherVersionIsLeftAlone) {
  const TemporaryFolder other;
  std::filesystem::copy(kFolder + "/stand_ins", other / "stand_ins",
                        std::filesystem::copy_options::recursive);
  const std::string engine = other / "stand_ins/deepspeed/runtime/engine.py";
  const Outcome edited = run({"sed", "-i", "s/_take_model_step/_apply/", engine});
  ASSERT_EQ(edited.exit_code, 0);
  const Recorded recorded = record("deepspeed", other / "stand_ins");
  EXPECT_EQ(recorded.outcome.exit_code, 0) << recorded.outcome.standard_error;
  EXPECT_THAT(recorded.problem, HasSubstr("_take_model_step"));
}

TEST_F(Frameworks, NothingIsLoadedForAProgramWithoutThem) {
  const std::string program = "import torch, sys; print([m for m in sys.modules if 'frameworks' in m])";
  const Outcome outcome = run({binary("lockstep"), "record", "--quiet", "-o", TemporaryFolder() / "run", "--",
                               LOCKSTEP_PYTHON, "-c", program},
                              environment(kFolder + "/stand_ins"));
  EXPECT_EQ(outcome.standard_output, "[]\n");
}

}  // namespace
}  // namespace lockstep::end_to_end
