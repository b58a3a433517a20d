// The bubble of a recorded pipeline is the one that theory gives for its schedule: (p − 1)/(v·m + p − 1) of
// the time. The paced device makes all layers take the same modelled time, most of it asleep, so what is
// measured is what the schedule, its communication and the recording make of it.
//
// The analyzer's figures are held against this file's own, out of the traces.
//
// A loaded machine only delays: a stage, and those that wait for it. So the shortest step counts, of several
// runs if need be, and where the machine allows it the job runs at real-time priority.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
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
  // Whoever runs this elsewhere on the machine, at the same priority, would delay this job: one after the
  // other.
  PipelineBubble() {
    const auto path = std::filesystem::temp_directory_path() / "lockstep-real-time.lock";
    lock_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    flock(lock_, LOCK_EX);
    // Inherited by the job.
    const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_RR)};
    undisturbed_ = sched_setscheduler(0, SCHED_RR, &lowest) == 0;
  }
  ~PipelineBubble() override { close(lock_); }

  int lock_ = -1;
  bool undisturbed_ = false;  // other programs can't delay the job
};

TEST_P(PipelineBubble, IsTheIdealOfItsSchedule) {
  const Pipeline& pipeline = GetParam();
  const TemporaryFolder folder;
  const double ideal = ideal_ratio(pipeline);
  double own = 1, reported = 1;  // of the shortest step
  trace::Nanoseconds shortest = std::numeric_limits<trace::Nanoseconds>::max();
  const auto near = [&](double ratio) { return std::abs(ratio / ideal - 1) <= kTolerance; };
  for (int run = 0; run < kRuns && !(near(reported)); ++run) {
    record(pipeline, folder / "run");
    if (HasFatalFailure()) return;
    const auto steps = regions(pipeline, folder / "run");
    ASSERT_EQ(steps.size(), kSteps);
    for (const auto& [step, region] : steps) {
      if (region.end - region.begin >= shortest) continue;
      shortest = region.end - region.begin;
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
    }
  }
  RecordProperty("own_to_ideal", fmt::format("{:.4f}", own / ideal));
  RecordProperty("reported_to_ideal", fmt::format("{:.4f}", reported / ideal));
  if (!(near(reported)) && !undisturbed_)
    GTEST_SKIP() << "the bubble is " << own / ideal
                 << " times the ideal, and real-time priority is not allowed "
                 << "here: it may be the delay of other programs";
  EXPECT_NEAR(own / ideal, 1, 2 * kTolerance);  // with the transfers
  EXPECT_NEAR(reported / ideal, 1, kTolerance);
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
