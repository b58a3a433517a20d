// Evaluations that an unedited program on one rank does under no_grad or inference_mode alone are told from
// when they begin to when they end; what it computes without gradients to train on is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

using Json = nlohmann::json;
using Interval = std::pair<std::int64_t, std::int64_t>;

class WithoutGradients : public TorchTest {
 protected:
  // Records the job, which prints what it prints alone.
  void record(const std::string& mode) {
    const auto job = [&](const std::string& output) {
      return std::vector<std::string>{
          LOCKSTEP_PYTHON, std::string(LOCKSTEP_SOURCE_DIR) + "/tests/pytorch/without_gradients_job.py", mode,
          output};
    };
    std::vector<std::string> environment{"RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0"};
    environment.insert(environment.end(), kQuietEnvironment.begin(), kQuietEnvironment.end());
    std::vector<std::string> command{binary("lockstep"), "record", "--quiet", "-o", folder_ / "run", "--"};
    const std::vector<std::string> recorded_job = job(folder_ / "own");
    command.insert(command.end(), recorded_job.begin(), recorded_job.end());
    const Outcome recorded = run(command, environment), alone = run(job(folder_ / "alone"), environment);
    ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
    EXPECT_EQ(recorded.standard_output, alone.standard_output);
    std::ifstream file(folder_ / "own.json");
    own_ = Json::parse(file);
    EXPECT_EQ(own_.at("hooks"), 0);
  }
  const Json& own() const { return own_; }

  // What the file says, in order.
  std::vector<Interval> evaluations() const {
    const Result<trace::Reader> opened = trace::Reader::open(folder_ / "run/rank-0.lst");
    if (!opened.ok()) ADD_FAILURE() << opened.error().message;
    if (!opened.ok()) return {};
    std::vector<trace::HostRange> ranges;
    EXPECT_TRUE(opened.value().read(trace::Selection{}, ranges).ok());
    std::vector<Interval> found;
    for (const trace::HostRange& range : ranges)
      if (opened.value().string(range.name).starts_with("evaluation"))
        found.emplace_back(range.begin, range.end);
    std::sort(found.begin(), found.end());
    return found;
  }

  // `count` evaluations, those that the job measured behind the first `untold`.
  void expect_found(std::size_t count, std::size_t untold = 0) const {
    const std::vector<Interval> found = evaluations();
    const Json& measured = own().at("evaluations");
    ASSERT_EQ(measured.size(), untold + count);
    ASSERT_EQ(found.size(), count);
    for (std::size_t i = 0; i < found.size(); ++i) {
      SCOPED_TRACE(i);
      const auto begin = measured[untold + i][0].get<std::int64_t>(),
                 end = measured[untold + i][1].get<std::int64_t>();
      EXPECT_GE(found[i].first, begin);
      EXPECT_LE(found[i].second, end);
      EXPECT_GE(found[i].second - found[i].first, (end - begin) / 2) << "the batches of a loop are one";
    }
  }

 private:
  TemporaryFolder folder_;
  Json own_;
};

TEST_F(WithoutGradients, EvaluationsOfAPlainModelAreTold) {
  ASSERT_NO_FATAL_FAILURE(record("evaluation"));
  expect_found(4);  // around the loop, a block for each batch, a decorated function, after training
}

TEST_F(WithoutGradients, EvaluationsBetweenCallsOfSetGradEnabledAreTold) {
  ASSERT_NO_FATAL_FAILURE(record("switch"));
  expect_found(3);  // two calls, a block for each batch, a decorated function
}

TEST_F(WithoutGradients, EvaluatingOnceBeforeTrainingHidesNoLaterEvaluation) {
  ASSERT_NO_FATAL_FAILURE(record("before"));
  expect_found(3, 1);
}

TEST_F(WithoutGradients, APlaceThatIsEvaluationIsToldWhereItTookLessThanAStep) {
  ASSERT_NO_FATAL_FAILURE(record("short"));
  expect_found(2);
}

// Seen of a search for hyperparameters, whose ranks then waited for each other: 1.3 s were 0.1 s of
// evaluation.
TEST_F(WithoutGradients, WhatComesBehindTheLastEvaluationIsNone) {
  ASSERT_NO_FATAL_FAILURE(record("mode"));
  const std::vector<Interval> found = evaluations();
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(own().at("evaluations").size(), 1U);
  const Json& measured = own().at("evaluations")[0];
  EXPECT_GE(found[0].first, measured[0].get<std::int64_t>());
  EXPECT_LE(found[0].second, measured[1].get<std::int64_t>());
}

TEST_F(WithoutGradients, WhatTrainingNeedsIsNoEvaluation) {
  ASSERT_NO_FATAL_FAILURE(record("training"));
  EXPECT_THAT(evaluations(), testing::IsEmpty());
}

TEST_F(WithoutGradients, WhatEachStageOfTrainingNeedsIsNoEvaluation) {
  ASSERT_NO_FATAL_FAILURE(record("stages"));
  EXPECT_THAT(evaluations(), testing::IsEmpty());
}

TEST_F(WithoutGradients, AProgramThatCompilesFindsPyTorchsOwn) {
  ASSERT_NO_FATAL_FAILURE(record("compile"));
  EXPECT_TRUE(own().at("own"));
  EXPECT_THAT(evaluations(), testing::IsEmpty()) << "nothing is followed";
}

}  // namespace
}  // namespace lockstep::end_to_end
