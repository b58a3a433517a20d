// The bubble of a recorded pipeline is the one that theory gives for its schedule: (p − 1)/(v·m + p − 1) of
// the time. The paced device makes all layers take the same modelled time, most of it asleep, so what is
// measured is what the schedule, its communication and the recording make of it.
//
// The analyzer's figures are held against this file's own, out of the traces.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tests/end_to_end/paced_job.h"
#include "tests/end_to_end/undisturbed.h"
#include "trace/reader.h"

namespace lockstep {
namespace {

using end_to_end::binary;
using end_to_end::Outcome;
using end_to_end::TemporaryFolder;

constexpr double kTolerance = 0.02;  // relative
constexpr int kSteps = 2;

struct Pipeline {
  const char* schedule;
  int stages;
  int microbatches;
  int chunks = 1;
};

// How long the forward of a layer takes, one layer on each model stage. A stage loses fractions of a
// millisecond between any two of its passes, more where more processes share the machine; the bubble can bear
// two hundredths of p − 1 forwards and backwards in all.
double forward_seconds(const Pipeline& pipeline) {
  const int stages = pipeline.stages;
  return (0.010 + 0.003 * stages) * pipeline.microbatches * pipeline.chunks / (stages - 1);
}

void record(const Pipeline& pipeline, int pace, const std::string& path) {
  const Outcome outcome = end_to_end::record_paced(
      {.ranks = pipeline.stages,
       .layers = pipeline.stages * pipeline.chunks,
       .steps = kSteps,
       .forward_seconds = pace * forward_seconds(pipeline)},
      path,
      {"--mode", "pipeline", "--schedule", pipeline.schedule, "--chunks", std::to_string(pipeline.chunks),
       "--microbatches", std::to_string(pipeline.microbatches)});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
}

struct Region {
  trace::Nanoseconds begin = std::numeric_limits<trace::Nanoseconds>::max();
  trace::Nanoseconds end = std::numeric_limits<trace::Nanoseconds>::min();
  trace::Nanoseconds compute = 0;  // of all stages
};
trace::Nanoseconds length(const Region& region) {
  return region.end - region.begin;
}

// docs/metrics.md, out of the trace files: by step, from the first forward to the last backward of any stage.
std::map<std::int64_t, Region> regions(const Pipeline& pipeline, const std::string& path) {
  std::map<std::int64_t, Region> regions;
  for (int rank = 0; rank < pipeline.stages; ++rank) {
    const Result<trace::Reader> reader = trace::Reader::open(fmt::format("{}/rank-{}.lst", path, rank));
    EXPECT_TRUE(reader.ok()) << reader.error().message;
    if (!reader.ok()) return {};
    std::vector<trace::Step> steps;
    std::vector<trace::DeviceActivity> activities;
    EXPECT_TRUE(reader.value().read({}, steps).ok());
    EXPECT_TRUE(reader.value().read({}, activities).ok());
    for (const trace::DeviceActivity& activity : activities) {
      const std::string_view name = reader.value().string(activity.name);
      if (!name.starts_with("forward") && !name.starts_with("backward")) continue;
      const auto step = std::find_if(steps.begin(), steps.end(), [&](const trace::Step& one) {
        return one.begin <= activity.begin && activity.begin < one.end;
      });
      if (step == steps.end()) continue;
      Region& region = regions[step->number];
      region.begin = std::min(region.begin, activity.begin);
      region.end = std::max(region.end, activity.end);
      region.compute += activity.end - activity.begin;
    }
  }
  return regions;
}

double bubble_ratio(const Pipeline& pipeline, const Region& region) {
  return 1 - static_cast<double>(region.compute) /
                 (static_cast<double>(region.end - region.begin) * pipeline.stages);
}

double ideal_ratio(const Pipeline& pipeline) {
  return (pipeline.stages - 1.0) / (pipeline.chunks * pipeline.microbatches + pipeline.stages - 1);
}

// What the report says of one step's pipeline.
nlohmann::json analyze(const std::string& path, std::int64_t step) {
  const Outcome outcome =
      end_to_end::run({binary("lockstep"), "analyze", path, "--steps", std::to_string(step), "--json", "-"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  return nlohmann::json::parse(outcome.standard_output).at("pipeline").at(0);
}

void PrintTo(const Pipeline& pipeline, std::ostream* out) {
  *out << pipeline.schedule << ", " << pipeline.stages << " stages, " << pipeline.microbatches
       << " microbatches";
}

class PipelineBubble : public testing::TestWithParam<Pipeline> {
 protected:
  end_to_end::Undisturbed undisturbed_;
};

TEST_P(PipelineBubble, IsTheIdealOfItsSchedule) {
  const Pipeline& pipeline = GetParam();
  if (pipeline.chunks * pipeline.microbatches > 16 && std::getenv("LOCKSTEP_LONG_TESTS") == nullptr)
    GTEST_SKIP() << "takes minutes: set LOCKSTEP_LONG_TESTS to run it";
  const TemporaryFolder folder;
  const double ideal = ideal_ratio(pipeline);
  double own = 1, reported = 1;  // of the shorter step: a machine only delays
  const bool near = end_to_end::Undisturbed::at_some_pace([&](int pace) {
    record(pipeline, pace, folder / "run");
    if (HasFatalFailure()) return true;
    const std::map<std::int64_t, Region> steps = regions(pipeline, folder / "run");
    EXPECT_EQ(steps.size(), kSteps);
    if (steps.empty()) return true;
    const auto& [step, region] =
        *std::min_element(steps.begin(), steps.end(),
                          [](const auto& a, const auto& b) { return length(a.second) < length(b.second); });
    own = bubble_ratio(pipeline, region);
    const nlohmann::json report = analyze(folder / "run", step);
    reported = report.at("bubble_ratio");
    EXPECT_EQ(report.at("schedule"), pipeline.schedule);
    EXPECT_EQ(report.at("stages"), pipeline.stages);
    EXPECT_EQ(report.at("microbatches"), pipeline.microbatches);
    EXPECT_EQ(report.at("chunks"), pipeline.chunks);
    EXPECT_DOUBLE_EQ(report.at("bubble_ratio_ideal"), ideal);
    // What is reported has less: the transfers that compute does not hide.
    EXPECT_LE(reported, own + 1e-9);
    RecordProperty("pace", pace);
    return std::abs(reported / ideal - 1) <= kTolerance;
  });
  if (HasFailure()) return;
  RecordProperty("own_to_ideal", fmt::format("{:.4f}", own / ideal));
  RecordProperty("reported_to_ideal", fmt::format("{:.4f}", reported / ideal));
  if (!near && !undisturbed_.disturbance().empty())
    GTEST_SKIP() << "the bubble is " << reported / ideal << " times the ideal, but "
                 << undisturbed_.disturbance();
  EXPECT_NEAR(own / ideal, 1, 2 * kTolerance);  // with the transfers
  EXPECT_NEAR(reported / ideal, 1, kTolerance);
}

std::vector<Pipeline> all() {
  std::vector<Pipeline> all;
  for (const int stages : {2, 4, 8}) {
    for (const int microbatches : {4, 8, 16}) {
      all.push_back({"gpipe", stages, microbatches});
      all.push_back({"1f1b", stages, microbatches});
      // With fewer microbatches than stages, interleaving has a larger bubble than that.
      if (microbatches >= stages) all.push_back({"interleaved", stages, microbatches, 2});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Schedules, PipelineBubble, testing::ValuesIn(all()), [](const auto& info) {
  const Pipeline& pipeline = info.param;
  return fmt::format(
      "{}_p{}_m{}", std::string(pipeline.schedule) == "1f1b" ? "one_forward_one_backward" : pipeline.schedule,
      pipeline.stages, pipeline.microbatches);
});

}  // namespace
}  // namespace lockstep
