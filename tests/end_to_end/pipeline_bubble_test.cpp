// The bubble of a recorded pipeline is the one that theory gives for its schedule: (p − 1)/(v·m + p − 1) of the
// time. The paced device makes all layers take the same modelled time, most of it asleep, so what is measured is
// what the schedule, its communication and the recording make of it.
//
// A loaded machine only adds: it delays a stage, and those that wait for it. So the shortest step is compared.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/support.h"
#include "trace/reader.h"

namespace lockstep {
namespace {

using end_to_end::binary;
using end_to_end::Outcome;
using end_to_end::TemporaryFolder;

constexpr double kTolerance = 0.02;  // relative
constexpr int kSteps = 3;

struct Pipeline {
  const char* schedule;
  int stages;
  int microbatches;
  int chunks = 1;
};

// One layer on each model stage. Its forward is 16 · (2 · 12 · 32² + 4 · 16 · 32) operations.
constexpr double kForwardFlops = 425'984;

// How long one forward takes. The shorter the pipeline, the smaller its bubble, and the more a delay matters.
double forward_seconds(const Pipeline& pipeline) {
  return 0.12 / (pipeline.stages - 1);
}

void record(const Pipeline& pipeline, const std::string& path) {
  const Outcome outcome = end_to_end::run(
      {binary("lockstep"), "record", "-o", path, "--", binary("lockstep"), "train", "--mode", "pipeline", "--ranks",
       std::to_string(pipeline.stages), "--schedule", pipeline.schedule, "--chunks",
       std::to_string(pipeline.chunks), "--microbatches", std::to_string(pipeline.microbatches), "--layers",
       std::to_string(pipeline.stages * pipeline.chunks), "--hidden", "32", "--heads", "2", "--sequence-length",
       "16", "--batch-size", "1", "--steps", std::to_string(kSteps), "--device", "paced", "--flops",
       fmt::format("{}", kForwardFlops / forward_seconds(pipeline))});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
}

struct Region {
  trace::Nanoseconds begin = std::numeric_limits<trace::Nanoseconds>::max();
  trace::Nanoseconds end = std::numeric_limits<trace::Nanoseconds>::min();
  trace::Nanoseconds compute = 0;  // of all stages
};

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

class PipelineBubble : public testing::TestWithParam<Pipeline> {};

TEST_P(PipelineBubble, IsTheIdealOfItsSchedule) {
  const Pipeline& pipeline = GetParam();
  const TemporaryFolder folder;
  record(pipeline, folder / "run");
  if (HasFatalFailure()) return;
  double smallest = 1;
  for (const auto& [step, region] : regions(pipeline, folder / "run")) {
    printf("  step %d %.5f %.3f\n", int(step), bubble_ratio(pipeline, region), 1e-9*(region.end-region.begin));
    smallest = std::min(smallest, bubble_ratio(pipeline, region));
  }
  const double ideal = (pipeline.stages - 1.0) / (pipeline.chunks * pipeline.microbatches + pipeline.stages - 1);
  printf("  %.5f %.5f %.2f%%\n", smallest, ideal, 100*(smallest/ideal-1));
  EXPECT_NEAR(smallest / ideal, 1, kTolerance);
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
  return fmt::format("{}_p{}_m{}", std::string(pipeline.schedule) == "1f1b" ? "one_forward_one_backward" : pipeline.schedule,
                     pipeline.stages, pipeline.microbatches);
});

}  // namespace
}  // namespace lockstep
