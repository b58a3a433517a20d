// Steps and phases are found by ranges however short these are: in a report as in what keeps all ranges.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/account/account.h"
#include "analyzer/import/kineto/kineto_text.h"
#include "analyzer/open_job.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

std::string at(int us) {
  return std::to_string(us);
}

Job opened(const std::vector<std::string>& events, bool keep_host_ranges) {
  const TemporaryFolder folder;
  ImportOptions options;
  options.keep_host_ranges = keep_host_ranges;
  return must(open_job({folder.write("rank-0.json", kineto::document(events, R"("distributedInfo": {"rank": 0,
                                                                "world_size": 1})"))},
                       options));
}

std::vector<Nanoseconds> ends_of(const std::vector<StepMark>& steps) {
  std::vector<Nanoseconds> ends;
  for (const StepMark& step : steps) ends.push_back(step.end);
  return ends;
}

std::string how_steps_were_found(const Job& job) {
  for (const Warning& warning : job.warnings)
    if (warning.code == "steps_found") return warning.message;
  return "";
}

// Of 2 ms each; no two of them launch the same, so that nothing repeats.
std::vector<std::string> ten_steps(const char* range, int begin, const char* length) {
  std::vector<std::string> events;
  for (int step = 0; step < 10; ++step) {
    const int start = 10'000 + step * 2'000;
    events.push_back(kineto::launch(at(start + 100), "5", 1 + step));
    events.push_back(kineto::kernel(fmt::format("gemm_{}", step), at(start + 110), "900", 1 + step));
    events.push_back(kineto::annotation(range, at(start + begin), length));
  }
  return events;
}

TEST(ShortRanges, OfTheOptimizerEndSteps) {
  const std::vector<std::string> events = ten_steps("Optimizer.step#SGD.step", 1'200, "300");
  const Job all = opened(events, true), few = opened(events, false);
  ASSERT_EQ(few.ranks[0].steps.size(), 9U);
  EXPECT_EQ(few.ranks[0].steps.front().end, 13'500'000);
  EXPECT_EQ(ends_of(few.ranks[0].steps), ends_of(all.ranks[0].steps));
  EXPECT_THAT(how_steps_were_found(few), HasSubstr("the ranges of the optimizer"));
}

TEST(ShortRanges, OfForwardPassesBeginSteps) {
  const std::vector<std::string> events = ten_steps("forward of Net", 50, "200");
  const Job all = opened(events, true), few = opened(events, false);
  ASSERT_EQ(few.ranks[0].steps.size(), 10U);
  EXPECT_EQ(ends_of(few.ranks[0].steps), ends_of(all.ranks[0].steps));
  EXPECT_THAT(how_steps_were_found(few), HasSubstr("forward passes"));
}

// One short range of autograd's is enough to know that these are no steps of inference.
TEST(ShortRanges, OfAutogradSayThatARankTrains) {
  std::vector<std::string> events = ten_steps("DistributedDataParallel.forward", 50, "200");
  for (int i = 0; i < 10; ++i)
    events.push_back(kineto::annotation("autograd::engine::evaluate_function: AddmmBackward0",
                                        at(10'400 + i * 2'000), "20", 2, "cpu_op"));
  for (const bool keep : {true, false}) EXPECT_TRUE(opened(events, keep).ranks[0].steps.empty()) << keep;
}

TEST(ShortRanges, OfEvaluationAreEvaluation) {
  std::vector<std::string> events = {kineto::launch("10", "5", 1), kineto::kernel("gemm", "20", "900", 1)};
  for (int i = 0; i < 10; ++i)
    events.push_back(kineto::annotation("val_step", at(10'000 + i * 1'000), "900"));
  for (const bool keep : {true, false}) {
    const Job job = opened(events, keep);
    EXPECT_EQ(find_phases(job.ranks[0], job.strings)[Phase::evaluation].measure(), 9'000'000) << keep;
  }
}

// What cuts nothing and names nothing stays away.
TEST(ShortRanges, OfOtherNamesAreLeftOut) {
  std::vector<std::string> events = ten_steps("Optimizer.step#SGD.step", 1'200, "300");
  for (int i = 0; i < 10; ++i) {
    events.push_back(kineto::annotation("aten::mm", at(10'100 + i * 2'000), "50", 1, "cpu_op"));
    events.push_back(
        kineto::annotation("evaluation.py(3): score", at(10'200 + i * 2'000), "50", 1, "python_function"));
  }
  const Job job = opened(events, false);
  EXPECT_TRUE(std::all_of(
      job.ranks[0].host_ranges.begin(), job.ranks[0].host_ranges.end(),
      [&](const HostRange& range) { return job.strings.view(range.name) == "Optimizer.step#SGD.step"; }));
}

}  // namespace
}  // namespace lockstep::analyzer
