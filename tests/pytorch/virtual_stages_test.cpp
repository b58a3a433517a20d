// Pipelines of stock PyTorch under `lockstep record`: schedule, stages, microbatches and chunks as the
// program has them, and messages that end when they are carried out.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

using Json = nlohmann::json;
using trace::Operation;

std::string python() {
  const char* const named = std::getenv("LOCKSTEP_PYTHON");
  return named != nullptr ? named : LOCKSTEP_PYTHON;
}

struct Case {
  const char* mode;
  int ranks;
  const char* schedule;
  int chunks;
};
void PrintTo(const Case& job, std::ostream* out) {
  *out << job.mode << ", " << job.ranks << " ranks";
}

// Into folder/run.
Outcome record(const std::vector<std::string>& job, const TemporaryFolder& folder) {
  std::vector<std::string> command{binary("lockstep"), "record", "-o", folder / "run", "--"};
  command.insert(command.end(), job.begin(), job.end());
  return run(command, kQuietEnvironment);
}

// The same; skips the test where there is no PyTorch that can.
void record_job(const char* mode, int ranks, const TemporaryFolder& folder) {
  const std::string why = why_no_torch_that_runs("1F1B", python());
  if (!why.empty()) GTEST_SKIP() << "SKIPPED: " << why;
  const Outcome recorded = record(ranks_of("jobs.py", {mode, folder / "own"}, ranks, python()), folder);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
}

class Pipelines : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { record_job(GetParam().mode, GetParam().ranks, folder_); }

  void expect_schedule() const;
  void expect_what_the_first_stage_sends_over_before_its_answer_comes() const;
  void expect_the_second_stage_to_compute_once_the_first_has() const;

  TemporaryFolder folder_;
};

void Pipelines::expect_schedule() const {
  const Case& job = GetParam();
  const Outcome analyzed =
      run({binary("lockstep"), "analyze", folder_ / "run", "--all-steps", "--json", "-"});
  ASSERT_EQ(analyzed.exit_code, 0) << analyzed.standard_error;
  const Json report = Json::parse(analyzed.standard_output);
  ASSERT_EQ(report.at("pipeline").size(), 1U);
  const Json& pipeline = report.at("pipeline")[0];
  EXPECT_EQ(pipeline.at("schedule"), job.schedule) << pipeline.at("reason");
  if (job.schedule == std::string("unknown")) {
    EXPECT_THAT(pipeline.at("reason").get<std::string>(), testing::HasSubstr("zero bubble"));
  }
  EXPECT_EQ(pipeline.at("stages"), job.ranks);
  EXPECT_EQ(pipeline.at("microbatches"), 2 * job.ranks);
  EXPECT_EQ(pipeline.at("chunks"), job.chunks);
  EXPECT_EQ(pipeline.at("steps"), 4);
  const double p = job.ranks;
  if (job.schedule == std::string("unknown")) {
    EXPECT_TRUE(pipeline.at("bubble_ratio_ideal").is_null());
  } else {
    EXPECT_DOUBLE_EQ(pipeline.at("bubble_ratio_ideal").get<double>(), (p - 1) / (job.chunks * 2 * p + p - 1));
  }
  const auto bubble = pipeline.at("bubble_ratio").get<double>();
  EXPECT_GT(bubble, 0);
  EXPECT_LT(bubble, 1);
  EXPECT_EQ(report.at("run").at("unmatched"), 0);
  // No sum over messages exceeds the time of the ranks that exchanged them.
  std::int64_t time = 0;
  for (const Json& rank : report.at("ranks")) time += rank.at("window_ns").get<std::int64_t>();
  for (const Json& group : report.at("groups")) {
    for (const Json& operation : group.at("operations"))
      EXPECT_LE(operation.at("wait_ns").get<std::int64_t>() + operation.at("transfer_ns").get<std::int64_t>(),
                time);
  }
}

// The schedules look after all that they have sent when their step is done. The gradient of a microbatch
// comes after the activations were sent, and the same thread of Gloo's hears of both.
void Pipelines::expect_what_the_first_stage_sends_over_before_its_answer_comes() const {
  const Result<trace::Reader> reader = trace::Reader::open(folder_ / "run/rank-0.lst");
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  std::vector<trace::Step> steps;
  ASSERT_TRUE(reader.value().read(trace::Selection{}, steps).ok());
  std::vector<trace::Collective> events;
  ASSERT_TRUE(reader.value().read(trace::Selection{}, events).ok());
  std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  int seen = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {  // in the first one shapes are sent as well
    const trace::Collective* first_sent = nullptr;
    trace::Nanoseconds last_received = 0;
    for (const trace::Collective& event : events) {
      if (event.begin < steps[i].begin || event.begin >= steps[i].end) continue;
      if (event.operation == Operation::send && first_sent == nullptr) first_sent = &event;
      if (event.operation == Operation::recv) last_received = std::max(last_received, event.end);
    }
    ASSERT_NE(first_sent, nullptr);
    EXPECT_LT(first_sent->end, last_received) << "step " << i;
    ++seen;
  }
  EXPECT_EQ(seen, 3);
}

struct Passes {
  trace::Nanoseconds first_forward_begin = std::numeric_limits<trace::Nanoseconds>::max();
  trace::Nanoseconds first_forward_end = std::numeric_limits<trace::Nanoseconds>::max();
};

// By step.
std::map<std::int64_t, Passes> first_passes(const std::string& path) {
  std::map<std::int64_t, Passes> found;
  const Result<trace::Reader> reader = trace::Reader::open(path);
  EXPECT_TRUE(reader.ok());
  if (!reader.ok()) return found;
  std::vector<trace::Step> steps;
  std::vector<trace::DeviceActivity> activities;
  EXPECT_TRUE(reader.value().read(trace::Selection{}, steps).ok());
  EXPECT_TRUE(reader.value().read(trace::Selection{}, activities).ok());
  for (const trace::DeviceActivity& activity : activities) {
    if (activity.pass != trace::Pass::forward) continue;
    for (const trace::Step& step : steps) {
      if (activity.begin < step.begin || activity.begin >= step.end) continue;
      Passes& passes = found[step.number];
      passes.first_forward_begin = std::min(passes.first_forward_begin, activity.begin);
      passes.first_forward_end = std::min(passes.first_forward_end, activity.end);
    }
  }
  return found;
}

// Not when it begins to wait for its first activations, which may be in the step before: the region of a step
// is from the first forward pass on.
void Pipelines::expect_the_second_stage_to_compute_once_the_first_has() const {
  const std::map<std::int64_t, Passes> first = first_passes(folder_ / "run/rank-0.lst"),
                                       second = first_passes(folder_ / "run/rank-1.lst");
  ASSERT_EQ(first.size(), 4U);
  ASSERT_EQ(second.size(), 4U);
  for (std::int64_t step = 1; step < 4; ++step)  // in the first one shapes are made known by a forward pass
    EXPECT_GE(second.at(step).first_forward_begin, first.at(step).first_forward_end) << "step " << step;
}

// Recorded once for all three.
TEST_P(Pipelines, AreToldAsTheProgramRunsThem) {
  expect_schedule();
  expect_what_the_first_stage_sends_over_before_its_answer_comes();
  expect_the_second_stage_to_compute_once_the_first_has();
}

INSTANTIATE_TEST_SUITE_P(Schedules, Pipelines,
                         testing::Values(Case{"pipeline", 2, "1f1b", 1}, Case{"gpipe", 2, "gpipe", 1},
                                         Case{"interleaved", 2, "interleaved", 2},
                                         Case{"zero_bubble", 2, "unknown", 2}),
                         [](const auto& info) { return std::string(info.param.mode); });

// Forward passes without gradients through all stages are no training.
TEST(Evaluation, ByThePipelinesScheduleIsTold) {
  const TemporaryFolder folder;
  ASSERT_NO_FATAL_FAILURE(record_job("gpipe_that_evaluates", 2, folder));
  if (testing::Test::IsSkipped()) return;
  const Outcome analyzed = run({binary("lockstep"), "analyze", folder / "run", "--json", "-"});
  ASSERT_EQ(analyzed.exit_code, 0) << analyzed.standard_error;
  const Json report = Json::parse(analyzed.standard_output);
  for (const Json& rank : report.at("account").at("ranks"))
    EXPECT_GT(rank.at("spent_ns").at("evaluation"), 0) << "rank " << rank.at("rank");
  std::vector<std::string> reasons;
  for (const Json& steps : report.at("steady").at("left_out")) reasons.push_back(steps.at("reason"));
  EXPECT_THAT(reasons, testing::Contains("evaluation"));
}

// Whose stages send by the group of all ranks.
TEST(Replicas, OfDeepSpeedsPipelineAreOnePipelineEach) {
  if (!why_no_torch_here().empty()) GTEST_SKIP() << "SKIPPED: " << why_no_torch_here();
  const TemporaryFolder folder;
  const Outcome recorded = record(ranks_of("replicas_job.py", {}, 4, python()), folder);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  const Outcome analyzed = run({binary("lockstep"), "analyze", folder / "run", "--all-steps", "--json", "-"});
  ASSERT_EQ(analyzed.exit_code, 0) << analyzed.standard_error;
  const Json report = Json::parse(analyzed.standard_output);
  EXPECT_EQ(report.at("run").at("unmatched"), 0);
  ASSERT_EQ(report.at("pipeline").size(), 2U);
  for (int copy = 0; copy < 2; ++copy) {
    const Json& pipeline = report.at("pipeline")[copy];
    EXPECT_EQ(pipeline.at("schedule"), "1f1b") << pipeline.at("reason");
    EXPECT_EQ(pipeline.at("stages"), 2);
    EXPECT_EQ(pipeline.at("microbatches"), 4);
    EXPECT_EQ(pipeline.at("steps"), 4);
    EXPECT_DOUBLE_EQ(pipeline.at("bubble_ratio_ideal").get<double>(), 1.0 / 5);
    ASSERT_EQ(pipeline.at("stages_detail").size(), 2U);
    for (int stage = 0; stage < 2; ++stage)
      EXPECT_EQ(pipeline.at("stages_detail")[stage].at("rank"), 2 * stage + copy);
  }
  for (const Json& rank : report.at("ranks")) EXPECT_GT(rank.at("partition").at("pipeline_bubble"), 0);
}

}  // namespace
}  // namespace lockstep::end_to_end
