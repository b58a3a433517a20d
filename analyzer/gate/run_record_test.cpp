#include "analyzer/gate/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

Report report_of_steps(std::int64_t steps) {
  Report report;
  report.path = "runs/today";
  report.origin_ns = 1'700'000'000'000'000'000;
  report.world_size = 2;
  for (std::int64_t step = 0; step < steps; ++step)
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      StepReport one{.step = step, .rank = rank, .begin_ns = 0, .end_ns = 0, .measures = {}};
      one.measures.window_ns = 1000;
      report.steps.push_back(one);
    }
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RankReport one;
    one.rank = rank;
    one.host = "node0";
    one.device = "NVIDIA H100";
    one.measures.window_ns = 1000 * steps;
    report.ranks.push_back(one);
  }
  return report;
}

TEST(RunRecord, SurvivesItsFile) {
  const RunRecord record = run_record(report_of_steps(8));
  EXPECT_EQ(record.unfit, "");
  EXPECT_EQ(record.steps, 8);
  EXPECT_EQ(record.setting, (RunSetting{2, 1, {"NVIDIA H100"}}));
  EXPECT_EQ(record.of("step_time", ""), 1000);
  const Result<RunRecord> read = run_record_from(to_json(record));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().path, record.path);
  EXPECT_EQ(read.value().start_ns, record.start_ns);
  EXPECT_EQ(read.value().setting, record.setting);
  EXPECT_EQ(read.value().steps, record.steps);
  ASSERT_EQ(read.value().figures.size(), record.figures.size());
  for (const RunFigure& figure : record.figures)
    EXPECT_EQ(read.value().of(figure.name, figure.scope), figure.value);
}

TEST(RunRecord, OfARunThatCannotBeJudgedSaysWhy) {
  EXPECT_EQ(run_record(report_of_steps(0)).unfit,
            "it has no steady step to judge, and 5 are needed: run it longer");
  EXPECT_EQ(run_record(report_of_steps(3)).unfit,
            "it has 3 steady steps to judge, and 5 are needed: run it longer");
  Report hung = report_of_steps(8);
  Finding hang;
  hang.alarm = Alarm::hang;
  hang.title = "rank 1 never came to all_reduce 7";
  hung.findings.push_back(hang);
  EXPECT_EQ(run_record(hung).unfit, hang.title + ": record it again");
  Report missing = report_of_steps(8);
  missing.ranks_missing = {2};
  EXPECT_EQ(run_record(missing).unfit, "1 rank left no trace: record it again, with all of its ranks");
  Report damaged = report_of_steps(8);
  damaged.ranks[1].damaged = true;
  EXPECT_EQ(run_record(damaged).unfit, "the file of rank 1 is damaged: record it again");
  Report interrupted = report_of_steps(8);
  Finding interruption;
  interruption.code = "job_interrupted";
  interruption.topic = Topic::interrupted;
  interruption.title = "the job was interrupted by Ctrl-C (SIGINT)";
  interrupted.findings.push_back(interruption);
  EXPECT_EQ(run_record(interrupted).unfit, interruption.title + ": record it again");
}

TEST(RunRecord, TheSameRecordingIsKnownUnderAnyName) {
  const RunRecord run = run_record(report_of_steps(8));
  RunRecord copy = run, later = run;
  copy.path = "copy";
  later.start_ns = *run.start_ns + 1;
  const auto are_different = [](const RunRecord& one, const RunRecord& other) {
    return check_different(std::vector{one}, std::vector{other}).ok();
  };
  EXPECT_EQ(check_different(std::vector{run, copy}, {}).error().message,
            "runs/today and copy are the same run: give different ones");
  EXPECT_TRUE(are_different(run, later)) << "two runs may tell the same of what is counted";
  // Traces that tell no time of day.
  RunRecord timeless = run;
  timeless.start_ns.reset();
  copy.start_ns.reset();
  EXPECT_FALSE(are_different(timeless, copy));
  copy.figures.back().value += 1e-9;
  EXPECT_TRUE(are_different(timeless, copy));
  EXPECT_TRUE(are_different(timeless, run));
}

TEST(RunRecord, OfAnythingElseIsAnError) {
  nlohmann::ordered_json json = to_json(run_record(report_of_steps(8)));
  EXPECT_FALSE(run_record_from(nlohmann::ordered_json::array()).ok());
  json["steps"] = "many";
  EXPECT_FALSE(run_record_from(json).ok());
  json.erase("steps");
  EXPECT_THAT(run_record_from(json).error().message, HasSubstr("steps"));
}

}  // namespace
}  // namespace lockstep::analyzer
