// The bubble of a recorded pipeline is the one that theory gives for its schedule: (p − 1)/(v·m + p − 1) of
// the time. The paced device makes all layers take the same modelled time, most of it asleep, so what is
// measured is what the schedule, its communication and the recording make of it.
//
// A loaded machine only adds: it delays a stage, and those that wait for it. So the best step counts, of
// several runs if need be, and where the machine allows it the job runs at real-time priority.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <limits>
#include <map>
#include <ostream>

#include "tests/end_to_end/support.h"
#include "trace/reader.h"

namespace lockstep {
namespace {

using end_to_end::binary;
using end_to_end::Outcome;
using end_to_end::TemporaryFolder;

constexpr double kTolerance = 0.02;  // relative
constexpr int kSteps = 2;
constexpr int kRuns = 3;  // at most

struct Pipeline {
  const char* schedule;
  int stages;
  int microbatches;
  int chunks = 1;
};

// One layer on each model stage. Its forward is 16 · (2 · 12 · 32² + 4 · 16 · 32) operations.
constexpr double kForwardFlops = 425'984;

// How long one forward takes. A stage loses fractions of a millisecond between any two of its passes, more
// where more processes share the machine; the bubble can bear two hundredths of p − 1 forwards and backwards
// in all.
double forward_seconds(const Pipeline& pipeline) {
  const int stages = pipeline.stages;
  return (0.010 + 0.003 * stages) * pipeline.microbatches * pipeline.chunks / (stages - 1);
}

void record(const Pipeline& pipeline, const std::string& path) {
  const Outcome outcome = end_to_end::run({binary("lockstep"),
                                           "record",
                                           "--force",
                                           "-o",
                                           path,
                                           "--",
                                           binary("lockstep"),
                                           "train",
                                           "--mode",
                                           "pipeline",
                                           "--ranks",
                                           std::to_string(pipeline.stages),
                                           "--schedule",
                                           pipeline.schedule,
                                           "--chunks",
                                           std::to_string(pipeline.chunks),
                                           "--microbatches",
                                           std::to_string(pipeline.microbatches),
                                           "--layers",
                                           std::to_string(pipeline.stages * pipeline.chunks),
                                           "--hidden",
                                           "32",
                                           "--heads",
                                           "2",
                                           "--sequence-length",
                                           "16",
                                           "--batch-size",
                                           "1",
                                           "--steps",
                                           std::to_string(kSteps),
                                           "--device",
                                           "paced",
                                           "--flops",
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

double ideal_ratio(const Pipeline& pipeline) {
  return (pipeline.stages - 1.0) / (pipeline.chunks * pipeline.microbatches + pipeline.stages - 1);
}

void PrintTo(const Pipeline& pipeline, std::ostream* out) {
  *out << pipeline.schedule << ", " << pipeline.stages << " stages, " << pipeline.microbatches
       << " microbatches";
}

class PipelineBubble : public testing::TestWithParam<Pipeline> {
 protected:
  // Inherited by the job.
  PipelineBubble() {
    const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_RR)};
    undisturbed_ = sched_setscheduler(0, SCHED_RR, &lowest) == 0;
  }
  bool undisturbed_ = false;  // other programs can't delay the job
};

TEST_P(PipelineBubble, IsTheIdealOfItsSchedule) {
  const Pipeline& pipeline = GetParam();
  const TemporaryFolder folder;
  std::vector<double> to_ideal;  // of each step
  double least = std::numeric_limits<double>::max();
  for (int run = 0; run < kRuns && least > 1 + kTolerance; ++run) {
    record(pipeline, folder / "run");
    if (HasFatalFailure()) return;
    const auto steps = regions(pipeline, folder / "run");
    ASSERT_EQ(steps.size(), kSteps);
    for (const auto& [step, region] : steps) {
      to_ideal.push_back(bubble_ratio(pipeline, region) / ideal_ratio(pipeline));
      least = std::min(least, to_ideal.back());
    }
  }
  RecordProperty("bubble_to_ideal", fmt::format("{:.4f}", fmt::join(to_ideal, " ")));
  EXPECT_GT(least, 1 - kTolerance);
  if (least > 1 + kTolerance && !undisturbed_)
    GTEST_SKIP() << "the bubble is " << least << " times the ideal, and real-time priority is not allowed "
                 << "here: it may be the delay of other programs";
  EXPECT_LT(least, 1 + kTolerance) << "of steps with " << fmt::format("{:.4f}", fmt::join(to_ideal, " "));
}

std::vector<Pipeline> all() {
  std::vector<Pipeline> all;
  for (const int stages : {2, 4, 8}) {
    for (const int microbatches : {4, 8, 16}) {
      all.push_back({"gpipe", stages, microbatches});
      all.push_back({"1f1b", stages, microbatches});
      // With fewer microbatches than stages, interleaving has a larger bubble than that; with many, the steps
      // of this test would take minutes.
      if (microbatches >= stages && microbatches <= 8)
        all.push_back({"interleaved", stages, microbatches, 2});
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
