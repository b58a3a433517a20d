// Pipelines as PyTorch's profiler records them: what is known of them by the names of host ranges and groups,
// and what by their messages alone. F = 10 µs, B = 20 µs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/import/kineto/kineto_text.h"
#include "analyzer/model/pipeline_job.h"
#include "analyzer/open_job.h"
#include "analyzer/report/measure_words.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr Nanoseconds us = 1000;
constexpr int kSteps = 12;  // enough to tell who is late

struct Recording {
  int stages = 2;
  int microbatches = 4;
  PipelineOrder order;
  int chunks = 1;
  int slow_stage = -1;
  std::string group_description = "PIPELINE_MODEL_PARALLEL_GROUP";
  // Of the host ranges around the launches of a pass; empty: there are none.
  std::string forward = "forward_step", backward = "backward_step";
};

std::string microseconds(Nanoseconds time) {
  return fmt::format("{}.{:03}", time / 1000, time % 1000);
}

// Passes and messages by simulation, then an all-reduce of all ranks and an optimizer in each step.
Job planned(const Recording& recording) {
  JobBuilder job;
  const PipelinePlan plan{.stages = recording.stages,
                          .order = recording.order,
                          .chunks = recording.chunks,
                          .forward = 10 * us,
                          .backward = 20 * us,
                          .slow_stage = recording.slow_stage,
                          .slower_by = 10 * us,
                          .layers_of_chunk = 1,
                          .waits = recording.chunks == 1};
  const std::uint32_t pipeline = job.group("5", ranks_of(plan), recording.group_description);
  const std::uint32_t world = job.group("0", ranks_of(plan), "default_pg");
  Nanoseconds begin = 1000 * us;
  for (int step = 0; step < kSteps; ++step) {
    PipelinePlan of_step = plan;
    of_step.begin = begin;
    const Nanoseconds end = add_pipeline_step(job, pipeline, of_step);
    for (const std::int32_t rank : ranks_of(plan)) {
      const Nanoseconds arrival = job.rank(rank).trace().activities.back().end;
      job.rank(rank).all_reduce(arrival, end + us).in_group(world).sequence(step);
      job.rank(rank).compute(end + us, end + 3 * us, "adam").part_of(Pass::optimizer, -1, -1);
      job.rank(rank).step(step + 1, begin - us, end + 4 * us);
    }
    begin = end + 10 * us;
  }
  return job.build();
}

class KinetoWriter {
 public:
  KinetoWriter(const Job& job, const Recording& recording) : job_(job), recording_(recording) {}

  std::string write(const RankTrace& rank) {
    events_.clear();
    for (const StepMark& step : rank.steps)
      range(fmt::format("ProfilerStep#{}", step.number), step.begin, step.end);
    for (const Activity& activity : rank.activities) add(rank, activity);
    return kineto::document(
        events_,
        fmt::format(
            R"("baseTimeNanoseconds": 1700000000000000000, "distributedInfo": {{"rank": {}, "world_size": {}}})",
            rank.rank, recording_.stages));
  }

 private:
  void range(const std::string& name, Nanoseconds begin, Nanoseconds end) {
    events_.push_back(kineto::annotation(name, microseconds(begin), microseconds(end - begin)));
  }

  // Launched when it begins; a backward pass by autograd's own thread.
  void add(const RankTrace& rank, const Activity& activity) {
    const int number = static_cast<int>(events_.size());
    const Computation computation =
        activity.compute == kNone ? Computation{} : rank.computations[activity.compute];
    const bool is_backward = computation.pass == Pass::backward;
    const std::string begin = microseconds(activity.begin),
                      length = microseconds(activity.end - activity.begin);
    if (computation.pass != Pass::other && computation.pass != Pass::optimizer) {
      const std::string& name = is_backward ? recording_.backward : recording_.forward;
      if (!name.empty()) range(name, activity.begin, activity.end);
    }
    events_.push_back(kineto::launch(begin, "0.001", number, is_backward ? 2 : 1));
    if (activity.communication == kNone) {
      events_.push_back(kineto::kernel("sm90_gemm", begin, length, number));
      return;
    }
    const Communication& communication = rank.communications[activity.communication];
    const JobGroup& group = job_.groups[communication.group];
    std::string more = fmt::format(
        R"(, "Collective name": "{}", "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "BFloat16", )"
        R"("Process Group Name": "{}", "Process Group Description": "{}", "Process Group Ranks": "[{}]", )"
        R"("Group size": {})",
        name_of(communication.operation), group.name, group.description, fmt::join(group.ranks, ", "),
        group.ranks.size());
    if (communication.operation == Operation::send)
      more += fmt::format(R"(, "Dst Rank": {})", communication.peer);
    if (communication.operation == Operation::recv)
      more += fmt::format(R"(, "Src Rank": {})", communication.peer);
    events_.push_back(kineto::kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", begin,
                                     length, number, 20 + static_cast<int>(communication.operation), more));
  }

  static std::string name_of(Operation operation) {
    return operation == Operation::all_reduce ? "allreduce" : trace::to_string(operation);
  }

  const Job& job_;
  const Recording& recording_;
  std::vector<std::string> events_;
};

Report analyzed(const Recording& recording) {
  const Job job = planned(recording);
  const TemporaryFolder folder;
  KinetoWriter writer(job, recording);
  for (const RankTrace& rank : job.ranks)
    folder.write(fmt::format("rank{}.json", rank.rank), writer.write(rank));
  Result<Job> opened = open_job({folder.path().string()});
  if (!opened.ok()) ADD_FAILURE() << opened.error().message;
  return checked_analysis(opened.ok() ? opened.value() : Job{}).report;
}

std::vector<std::string> findings_of(const Report& report) {
  std::vector<std::string> codes;
  for (const Finding& finding : report.findings) codes.push_back(finding.code);
  return codes;
}

// Stages, whether 1F1B, names of forward and backward.
class Named : public testing::TestWithParam<std::tuple<int, bool, std::pair<const char*, const char*>>> {
 protected:
  Recording recording(int slow_stage = -1) const {
    const auto [stages, is_1f1b, names] = GetParam();
    const int microbatches = 2 * stages;
    return {.stages = stages,
            .microbatches = microbatches,
            .order = is_1f1b ? one_forward_one_backward(stages, microbatches) : gpipe(stages, microbatches),
            .slow_stage = slow_stage,
            .forward = names.first,
            .backward = names.second};
  }
  Schedule schedule() const {
    return std::get<1>(GetParam()) ? Schedule::one_forward_one_backward : Schedule::gpipe;
  }
};

TEST_P(Named, TheBubbleIsTheSchedulesAndNobodyIsLate) {
  const Recording plan = recording();
  const Report report = analyzed(plan);
  ASSERT_EQ(report.pipeline.size(), 1u);
  const PipelineReport& pipeline = report.pipeline[0];
  EXPECT_EQ(pipeline.schedule, schedule()) << reason_text(pipeline.reason);
  EXPECT_EQ(pipeline.microbatches, plan.microbatches);
  EXPECT_EQ(pipeline.steps, kSteps);
  const double ideal =
      static_cast<double>(plan.stages - 1) / static_cast<double>(plan.microbatches + plan.stages - 1);
  EXPECT_DOUBLE_EQ(*pipeline.bubble_ratio_ideal, ideal);
  EXPECT_DOUBLE_EQ(*pipeline.bubble_ratio, ideal);
  for (const PipelineStage& stage : pipeline.stages_detail)
    EXPECT_EQ(stage.compute_ns, kSteps * plan.microbatches * 30 * us) << stage.stage;
  EXPECT_THAT(findings_of(report), Each("pipeline_bubble"));
  for (const Finding& finding : report.findings) EXPECT_EQ(finding.severity, "note") << finding.title;
  for (const BlameReport& blame : report.blame) {
    EXPECT_EQ(blame.blame_ns, blame.scheduled_ns) << blame.rank;
    EXPECT_EQ(blame.root_cause, "") << blame.rank;
  }
}

TEST_P(Named, ASlowStageIsFound) {
  const int slow = 1;
  const Report report = analyzed(recording(slow));
  ASSERT_EQ(report.pipeline.size(), 1u);
  EXPECT_EQ(report.pipeline[0].schedule, schedule());
  EXPECT_GT(*report.pipeline[0].bubble_ratio, *report.pipeline[0].bubble_ratio_ideal);
  const std::vector<std::string> codes = findings_of(report);
  EXPECT_THAT(codes, testing::Contains("unbalanced_stages"));
  for (const Finding& finding : report.findings) {
    if (finding.code == "unbalanced_stages") {
      EXPECT_THAT(finding.title, HasSubstr("stage 1 (rank 1) of the pipeline computes 66.7 % more"));
    } else if (finding.code != "pipeline_bubble") {
      EXPECT_THAT(finding.code, HasSubstr("straggler"));
      EXPECT_THAT(finding.title, HasSubstr("rank 1 "));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Named,
    testing::Combine(
        testing::Values(2, 4), testing::Bool(),
        testing::Values(std::pair("forward_step", "backward_step"),
                        std::pair("deepspeed/runtime/pipe/engine.py(670): _exec_forward_pass",
                                  "deepspeed/runtime/pipe/engine.py(760): _exec_backward_pass"))));

// The names of passes tell no chunk; how many there are is told by the order of passes.
TEST(Interleaved, ChunksAndMicrobatchesAreToldByTheOrder) {
  const Recording plan{.stages = 2, .microbatches = 4, .order = interleaved(2, 4, 3), .chunks = 3};
  const Report report = analyzed(plan);
  ASSERT_EQ(report.pipeline.size(), 1u);
  const PipelineReport& pipeline = report.pipeline[0];
  EXPECT_EQ(pipeline.schedule, Schedule::interleaved) << reason_text(pipeline.reason);
  EXPECT_EQ(pipeline.microbatches, 4);
  EXPECT_EQ(pipeline.chunks, 3);
  EXPECT_DOUBLE_EQ(*pipeline.bubble_ratio_ideal, 1.0 / 13);
  EXPECT_DOUBLE_EQ(*pipeline.bubble_ratio, 1.0 / 13);
}

// Nothing names the group or the passes.
class Unnamed : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  Recording recording(int slow_stage = -1) const {
    const auto [stages, is_1f1b] = GetParam();
    const int microbatches = 2 * stages;
    return {.stages = stages,
            .microbatches = microbatches,
            .order = is_1f1b ? one_forward_one_backward(stages, microbatches) : gpipe(stages, microbatches),
            .slow_stage = slow_stage,
            .group_description = "undefined",
            .forward = "",
            .backward = ""};
  }
};

TEST_P(Unnamed, APipelineIsKnownByItsMessages) {
  const Recording plan = recording();
  const Report report = analyzed(plan);
  ASSERT_EQ(report.pipeline.size(), 1u);
  const PipelineReport& pipeline = report.pipeline[0];
  EXPECT_EQ(pipeline.group, "5");
  EXPECT_FALSE(pipeline.passes_known);
  EXPECT_EQ(pipeline.schedule, Schedule::unknown);
  // From stage 0's first forward to its last backward, as where passes are known.
  const double ideal =
      static_cast<double>(plan.stages - 1) / static_cast<double>(plan.microbatches + plan.stages - 1);
  EXPECT_DOUBLE_EQ(*pipeline.bubble_ratio, ideal);
  for (const PipelineStage& stage : pipeline.stages_detail)
    EXPECT_EQ(stage.compute_ns, kSteps * plan.microbatches * 30 * us) << stage.stage;
  EXPECT_THAT(findings_of(report), Each("pipeline_bubble"));
  for (const BlameReport& blame : report.blame) EXPECT_EQ(blame.blame_ns, blame.scheduled_ns) << blame.rank;
}

TEST_P(Unnamed, ASlowStageIsFound) {
  const Report report = analyzed(recording(1));
  ASSERT_EQ(report.pipeline.size(), 1u);
  bool found = false;
  for (const Finding& finding : report.findings) {
    if (finding.code == "pipeline_bubble") continue;
    EXPECT_THAT(finding.code, HasSubstr("straggler"));
    EXPECT_THAT(finding.title, HasSubstr("rank 1 "));
    found = true;
  }
  EXPECT_TRUE(found);
}

INSTANTIATE_TEST_SUITE_P(All, Unnamed, testing::Combine(testing::Values(2, 4), testing::Bool()));

}  // namespace
}  // namespace lockstep::analyzer
