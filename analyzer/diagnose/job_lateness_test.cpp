// How late a pipeline's stages are in a step.
#include "analyzer/diagnose/job_lateness.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kWindow = 1000;

// What a rank does in each step: it computes, moves data, and its messages are waited for. The rest of its
// window is bubble.
struct Doing {
  std::int64_t compute = 0, transfer = 0, waited_for = 0;
};

// Pipelines of as many stages; ranks in order of pipeline, then stage.
Report report_of_stages(const std::vector<std::vector<Doing>>& pipelines) {
  Report report;
  std::int32_t number = 0;
  for (std::size_t p = 0; p < pipelines.size(); ++p) {
    PipelineReport pipeline;
    pipeline.group = "pp " + std::to_string(p);
    for (std::size_t s = 0; s < pipelines[p].size(); ++s, ++number) {
      const Doing& doing = pipelines[p][s];
      PipelineStage stage;
      stage.stage = static_cast<std::int32_t>(s);
      stage.rank = number;
      stage.compute_ns = doing.compute;
      pipeline.stages_detail.push_back(stage);
      report.ranks.emplace_back().rank = number;
      StepReport step;
      step.step = 7;
      step.rank = number;
      step.measures.window_ns = kWindow;
      step.measures.partition[Cause::compute] = doing.compute;
      step.measures.partition[Cause::transfer] = doing.transfer;
      step.measures.partition[Cause::pipeline_bubble] = kWindow - doing.compute - doing.transfer;
      report.steps.push_back(step);
      CollectiveReport message;
      message.step = 7;
      message.operation = Operation::send_recv;
      message.group_name = pipeline.group;
      message.last_arriver = number;
      CollectiveRank other;
      other.rank = number + (s == 0 ? 1 : -1);
      other.wait_ns = doing.waited_for;
      message.ranks.push_back(other);
      report.collectives.push_back(message);
    }
    report.pipeline.push_back(std::move(pipeline));
  }
  return report;
}

std::vector<std::int64_t> late_of(const Report& report) {
  return table_of_steps(Job{}, report).late_ns;
}

TEST(StagesLateness, IsWhatOthersWaitForIt) {
  EXPECT_EQ(late_of(report_of_stages({{{700, 0, 150}, {500, 0, 0}}})),
            (std::vector<std::int64_t>{150, -200}));
}

TEST(StagesLateness, NoMoreThanWhatItDoesItselfBeyondTheOthers) {
  EXPECT_EQ(late_of(report_of_stages({{{700, 0, 400}, {600, 0, 300}}})),
            (std::vector<std::int64_t>{100, -100}));
}

TEST(StagesLateness, AStageThatDoesLessThanTheOthersIsEarly) {
  // Waits for rank 0 are off schedule, for its pipeline has it compute more over the whole run.
  Report report = report_of_stages({{{700, 0, 400}, {600, 0, 300}}});
  report.steps[0].measures.partition[Cause::compute] = 550;
  report.steps[0].measures.partition[Cause::pipeline_bubble] = kWindow - 550;
  EXPECT_EQ(late_of(report), (std::vector<std::int64_t>{-50, 0}));
}

TEST(StagesLateness, DataThatItMovesLongerCounts) {
  EXPECT_EQ(late_of(report_of_stages({{{700, 80, 400}, {600, 30, 0}}})),
            (std::vector<std::int64_t>{150, -150}));
}

TEST(StagesLateness, OrBeyondTheOtherRanksOfItsStage) {
  // Stage 0 of the second pipeline computes as long as the last stages, but longer than the other first
  // stages.
  const Report report = report_of_stages({{{300, 0, 0}, {600, 0, 0}},
                                          {{550, 0, 240}, {600, 0, 0}},
                                          {{300, 0, 0}, {600, 0, 0}},
                                          {{310, 0, 0}, {600, 0, 0}}});
  const std::vector<std::int64_t> late = late_of(report);
  EXPECT_EQ(late[2], 0) << "its stage computes no more than the median one of its pipeline: on schedule";
  Report slower = report;
  slower.pipeline[1].stages_detail[0].compute_ns = 700;
  // 240 of one rank's waiting, in the mean over the seven others.
  EXPECT_EQ(late_of(slower)[2], 240 / 7);
  slower.collectives[2].ranks[0].wait_ns = 7 * 400;
  EXPECT_EQ(late_of(slower)[2], 550 - 300);
}

}  // namespace
}  // namespace lockstep::analyzer
