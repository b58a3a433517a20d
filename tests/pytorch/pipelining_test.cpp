// Pipelines built as torchtitan and as PiPPy build them, under `lockstep record`: schedule, stages,
// microbatches and chunks, and the bubble, which is worked out here once more from the exported passes and
// messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/pytorch/exported_table.h"
#include "tests/pytorch/torchrun.h"

namespace lockstep::end_to_end {
namespace {

using Json = nlohmann::json;
using Interval = std::pair<std::int64_t, std::int64_t>;

constexpr int kRanks = 2;
constexpr int kMicrobatches = 4;
constexpr int kSteps = 12;  // ten are enough to tell who is late
// What each pass of the job takes at least.
constexpr std::int64_t kForwardMs = 5;
constexpr std::int64_t kBackwardMs = 10;
constexpr std::int64_t kBothNs = (kForwardMs + kBackwardMs) * 1'000'000;

struct Case {
  const char* mode;
  const char* schedule;
  int chunks;
};
void PrintTo(const Case& job, std::ostream* out) {
  *out << job.mode;
}

// How much of `within` the intervals cover together.
std::int64_t covered(std::vector<Interval> intervals, Interval within) {
  std::sort(intervals.begin(), intervals.end());
  std::int64_t sum = 0;
  std::int64_t reached = within.first;
  for (const auto& [begin, end] : intervals) {
    const std::int64_t from = std::max(begin, reached);
    const std::int64_t to = std::min(end, within.second);
    sum += std::max<std::int64_t>(0, to - from);
    reached = std::max(reached, to);
  }
  return sum;
}

// PyTorch's own backward pass is a range within that of the stage.
int count_outermost(std::vector<Interval> ranges) {
  std::sort(ranges.begin(), ranges.end());
  int count = 0;
  std::int64_t reached = std::numeric_limits<std::int64_t>::min();
  for (const auto& [begin, end] : ranges) {
    if (begin >= reached) ++count;
    reached = std::max(reached, end);
  }
  return count;
}

struct Told {
  Json report;
  std::vector<Row> activities, messages, host_ranges;  // of messages and collectives, each rank's part
};

// Empty, with a failure, where that did not work.
Told record_job(const std::string& mode, const std::string& python) {
  const TemporaryFolder folder;
  std::vector<std::string> command{binary("lockstep"), "record", "-o", folder / "run", "--"};
  const std::vector<std::string> job =
      ranks_of("pipelining_job.py",
               {mode, std::to_string(kSteps), std::to_string(kForwardMs), std::to_string(kBackwardMs)},
               kRanks, python);
  command.insert(command.end(), job.begin(), job.end());
  const Outcome recorded = run(command, kQuietEnvironment);
  EXPECT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  const Outcome analyzed = run({binary("lockstep"), "analyze", folder / "run", "--all-steps", "--json", "-"});
  EXPECT_EQ(analyzed.exit_code, 0) << analyzed.standard_error;
  const Outcome exported =
      run({binary("lockstep"), "export", folder / "run", "--format", "csv", "-o", folder / "tables"});
  EXPECT_EQ(exported.exit_code, 0) << exported.standard_error;
  if (testing::Test::HasFailure()) return {};
  return {Json::parse(analyzed.standard_output), read_table(folder / "tables/activities.csv"),
          read_table(folder / "tables/collective_ranks.csv"), read_table(folder / "tables/host_ranges.csv")};
}

class BuiltPipelines : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const char* const named = std::getenv("LOCKSTEP_PYTHON");
    const std::string python = named != nullptr ? named : LOCKSTEP_PYTHON;
    const std::string why = why_no_torch_that_runs("these schedules on CPUs", python);
    if (!why.empty()) GTEST_SKIP() << "SKIPPED: " << why;
    told_ = record_job(GetParam().mode, python);
    ASSERT_FALSE(told_.report.is_null()) << "no recording";
  }

  void expect_bubble() const;
  void expect_passes() const;
  void expect_nobody_accused() const;

 private:
  static bool is_pass(const Row& activity) {
    return activity.at("pass") == "forward" || activity.at("pass") == "backward";
  }
  std::vector<Interval> passes_of(int rank, int step) const {
    std::vector<Interval> found;
    for (const Row& activity : told_.activities)
      if (is_pass(activity) && number(activity, "rank") == rank && number(activity, "step") == step)
        found.emplace_back(number(activity, "begin_ns"), number(activity, "end_ns"));
    return found;
  }
  // Data moves from when both sides are there.
  std::vector<Interval> transfers_of(int rank) const {
    std::map<std::string, std::int64_t> last_arrivals;
    for (const Row& message : told_.messages) {
      std::int64_t& last = last_arrivals[message.at("collective")];
      last = std::max(last, number(message, "arrival_ns"));
    }
    std::vector<Interval> found;
    for (const Row& message : told_.messages)
      if (number(message, "rank") == rank)
        found.emplace_back(last_arrivals.at(message.at("collective")), number(message, "end_ns"));
    return found;
  }
  // From the first pass to the last one over both ranks.
  Interval region_of(int step) const {
    Interval region(std::numeric_limits<std::int64_t>::max(), 0);
    for (int rank = 0; rank < kRanks; ++rank) {
      for (const auto& [begin, end] : passes_of(rank, step)) {
        region = {std::min(region.first, begin), std::max(region.second, end)};
      }
    }
    return region;
  }

  Told told_;
};

// That which the passes and messages leave.
void BuiltPipelines::expect_bubble() const {
  const int chunks = GetParam().chunks;
  ASSERT_EQ(told_.report.at("pipeline").size(), 1U);
  const Json& pipeline = told_.report.at("pipeline")[0];
  EXPECT_EQ(pipeline.at("schedule"), GetParam().schedule) << pipeline.at("reason");
  EXPECT_TRUE(pipeline.at("reason").is_null());
  EXPECT_EQ(pipeline.at("region"), "passes");
  EXPECT_EQ(pipeline.at("stages"), kRanks);
  EXPECT_EQ(pipeline.at("microbatches"), kMicrobatches);
  EXPECT_EQ(pipeline.at("chunks"), chunks);
  EXPECT_EQ(pipeline.at("steps"), kSteps);
  EXPECT_DOUBLE_EQ(pipeline.at("bubble_ratio_ideal").get<double>(), 1.0 / (chunks * kMicrobatches + 1));
  EXPECT_EQ(told_.report.at("run").at("unmatched"), 0);

  std::int64_t regions = 0;
  for (int step = 0; step < kSteps; ++step) regions += region_of(step).second - region_of(step).first;
  EXPECT_EQ(pipeline.at("region_ns"), regions);
  // One pass each way is left where nothing else can be done: while the first stage has yet to pass anything
  // on, and while it goes back through the last microbatch.
  EXPECT_GE(regions, kSteps * (chunks * kMicrobatches + 1) * kBothNs);
  std::int64_t bubbles = 0;
  ASSERT_EQ(pipeline.at("stages_detail").size(), 2U);
  for (int rank = 0; rank < kRanks; ++rank) {
    const Json& stage = pipeline.at("stages_detail")[rank];
    std::int64_t compute = 0;
    std::int64_t busy = 0;
    for (int step = 0; step < kSteps; ++step) {
      std::vector<Interval> intervals = passes_of(rank, step);
      compute += covered(intervals, region_of(step));
      const std::vector<Interval> transfers = transfers_of(rank);
      intervals.insert(intervals.end(), transfers.begin(), transfers.end());
      busy += covered(std::move(intervals), region_of(step));
    }
    EXPECT_EQ(stage.at("rank"), rank);
    EXPECT_EQ(stage.at("compute_ns"), compute);
    EXPECT_EQ(stage.at("exposed_transfer_ns"), busy - compute);
    EXPECT_EQ(stage.at("bubble_ns"), regions - busy);
    EXPECT_EQ(stage.at("warm_up_ns").get<std::int64_t>() + stage.at("steady_ns").get<std::int64_t>() +
                  stage.at("cool_down_ns").get<std::int64_t>(),
              regions - busy);
    EXPECT_GT(regions - busy, 0);
    EXPECT_GE(compute, kSteps * chunks * kMicrobatches * kBothNs);
    if (rank == 1) {
      EXPECT_GE(regions - compute, kSteps * kBothNs);
    }
    bubbles += regions - busy;
  }
  EXPECT_EQ(pipeline.at("bubble_ns"), bubbles);
  EXPECT_DOUBLE_EQ(pipeline.at("bubble_ratio").get<double>(),
                   static_cast<double>(bubbles) / static_cast<double>(kRanks * regions));
}

// Of each microbatch through each chunk in each step.
void BuiltPipelines::expect_passes() const {
  using Pass = std::pair<int, std::string>;  // a rank's
  std::map<Pass, std::vector<Interval>> ranges;
  for (const Row& range : told_.host_ranges)
    if (range.at("name") == "forward" || range.at("name") == "backward")
      ranges[{std::stoi(range.at("rank")), range.at("name")}].emplace_back(number(range, "begin_ns"),
                                                                           number(range, "end_ns"));
  std::map<std::pair<Pass, std::string>, std::set<std::string>> microbatches;  // by step
  for (const Row& activity : told_.activities)
    if (is_pass(activity))
      microbatches[{{std::stoi(activity.at("rank")), activity.at("pass")}, activity.at("step")}].insert(
          activity.at("microbatch"));
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const char* pass : {"forward", "backward"}) {
      const Pass key(rank, pass);
      EXPECT_EQ(count_outermost(ranges[key]), kSteps * GetParam().chunks * kMicrobatches) << rank << pass;
      for (int step = 0; step < kSteps; ++step)
        EXPECT_THAT((microbatches[{key, std::to_string(step)}]), testing::ElementsAre("0", "1", "2", "3"))
            << rank << pass << step;
    }
  }
}

// And no cause exceeds its window.
void BuiltPipelines::expect_nobody_accused() const {
  for (const char* windows : {"ranks", "steps"}) {
    for (const Json& window : told_.report.at(windows)) {
      std::int64_t sum = 0;
      for (const auto& [cause, time] : window.at("partition").items()) {
        EXPECT_GE(time, 0) << cause;
        EXPECT_LE(time, window.at("window_ns")) << cause;
        sum += time.get<std::int64_t>();
      }
      EXPECT_EQ(window.at("window_ns"), sum);
    }
  }
  for (const Json& finding : told_.report.at("findings"))
    EXPECT_TRUE(finding.at("accuses") != "rank" && finding.at("accuses") != "link") << finding;
  for (const Json& rank : told_.report.at("lateness").at("ranks")) {
    EXPECT_FALSE(rank.at("is_late").get<bool>()) << rank;
    EXPECT_TRUE(rank.at("accused_by").is_null()) << rank;
  }
}

// One test a job, so that it is recorded once.
TEST_P(BuiltPipelines, AreToldAsTheProgramRunsThem) {
  expect_bubble();
  expect_passes();
  expect_nobody_accused();
}

INSTANTIATE_TEST_SUITE_P(Jobs, BuiltPipelines,
                         testing::Values(Case{"torchtitan", "interleaved", 2},
                                         Case{"pippy_gpipe", "gpipe", 1}, Case{"pippy_1f1b", "1f1b", 1}),
                         [](const auto& info) { return std::string(info.param.mode); });

}  // namespace
}  // namespace lockstep::end_to_end
