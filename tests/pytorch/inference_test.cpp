// Unedited programs that compute forward passes and train nothing: their passes are computation, their
// iterations are steps. One that trains afterwards keeps the steps of its optimizer.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kIterations = 30;
const std::vector<std::string>& kEnvironment = kQuietEnvironment;

std::vector<std::string> job(const std::string& mode, const std::string& output) {
  return ranks_of("inference_job.py", {mode, output});
}

// What a rank's file says.
struct Recorded {
  std::vector<trace::DeviceActivity> computed;
  std::vector<trace::Step> steps;
};

Recorded read(const std::string& path) {
  Recorded recorded;
  const Result<trace::Reader> opened = trace::Reader::open(path);
  if (!opened.ok()) {
    ADD_FAILURE() << opened.error().message;
    return recorded;
  }
  EXPECT_TRUE(opened.value().read(trace::Selection{}, recorded.computed).ok());
  EXPECT_TRUE(opened.value().read(trace::Selection{}, recorded.steps).ok());
  return recorded;
}

std::string steps_found(const Json& report) {
  for (const Json& warning : report.at("warnings"))
    if (warning.at("code") == "steps_found") return warning.at("message");
  return "none";
}

class Inference : public TorchTest {
 protected:
  // The report on the job, which prints what it prints alone.
  Json record(const std::string& mode) const {
    std::vector<std::string> command{binary("lockstep"), "record", "-o", folder_ / "run", "--"};
    const std::vector<std::string> recorded_job = job(mode, folder_ / "own");
    command.insert(command.end(), recorded_job.begin(), recorded_job.end());
    const Outcome recorded = run(command, kEnvironment);
    EXPECT_EQ(recorded.exit_code, 0) << recorded.standard_error;
    const Outcome alone = run(job(mode, folder_ / "alone"), kEnvironment);
    EXPECT_EQ(alone.exit_code, 0) << alone.standard_error;
    EXPECT_EQ(sorted_lines(recorded.standard_output), sorted_lines(alone.standard_output));
    const Outcome analyzed =
        run({binary("lockstep"), "analyze", folder_ / "run", "--all-steps", "--json", "-"});
    EXPECT_EQ(analyzed.exit_code, 0) << analyzed.standard_error;
    return Json::parse(analyzed.standard_output);
  }
  Recorded rank(int number) const { return read(folder_ / fmt::format("run/rank-{}.lst", number)); }
  Json own(int rank) const {
    std::ifstream file(folder_ / fmt::format("own.{}.json", rank));
    return Json::parse(file);
  }
  // All computation is forward passes, and as much of it as the program measured.
  void expect_forward_passes(std::size_t passes) const {
    for (int number = 0; number < 2; ++number) {
      const Recorded recorded = rank(number);
      EXPECT_TRUE(recorded.steps.empty()) << "no optimizer stepped";
      EXPECT_EQ(recorded.computed.size(), passes);
      std::int64_t computed = 0;
      for (const trace::DeviceActivity& piece : recorded.computed) {
        EXPECT_EQ(piece.pass, trace::Pass::forward);
        computed += piece.end - piece.begin;
      }
      const auto measured = own(number).at("forward").get<std::int64_t>();
      EXPECT_LE(computed, measured);
      EXPECT_GE(computed, measured / 2);
    }
  }

 private:
  TemporaryFolder folder_;
};

void expect_steps(const Json& report, std::size_t count, const std::string& range) {
  EXPECT_THAT(
      steps_found(report),
      testing::HasSubstr(fmt::format(
          "{} were found by the forward passes of a loop without an optimizer (`{}`)", count, range)));
  EXPECT_EQ(report.at("steps").size(), 2 * count) << "of both ranks";
  // (That ranks are blocked *in* a forward pass may be true: of the first one, where libraries come from a
  // disk.)
  for (const Json& finding : report.at("findings")) {
    if (finding.at("code") == "blocked_in_compute") continue;
    EXPECT_THAT(finding.dump(), testing::Not(testing::HasSubstr("in `forward (")))
        << "what computes is not between computations";
  }
}

TEST_F(Inference, PassesOfAModuleAreComputationAndItsIterationsSteps) {
  const Json report = record("plain");
  expect_forward_passes(kIterations);
  expect_steps(report, kIterations, "forward of Net");
}

TEST_F(Inference, SoAreThoseOfDistributedDataParallel) {
  const Json report = record("ddp");
  expect_forward_passes(kIterations);
  expect_steps(report, kIterations, "DistributedDataParallel.forward");
}

TEST_F(Inference, OfTwoModelsAnIterationIsOneStep) {
  const Json report = record("two");
  expect_forward_passes(3 * kIterations);
  expect_steps(report, kIterations, "forward of Net");
}

TEST_F(Inference, OfAProgramThatTrainsAfterwardsTheOptimizerMakesTheSteps) {
  const Json report = record("train");
  EXPECT_EQ(steps_found(report), "none");
  for (int number = 0; number < 2; ++number) {
    EXPECT_EQ(rank(number).steps.size(), 10U);
    EXPECT_TRUE(own(number).at("call_is_own")) << "nothing of ours stands in the way of training";
  }
}

}  // namespace
}  // namespace lockstep::end_to_end
