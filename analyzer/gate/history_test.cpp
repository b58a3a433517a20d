#include "analyzer/gate/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/gate/sample_verdicts.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

const CheckStamp kStamp{.time = "2026-11-28T01:21:54Z", .commit = "4d8abace"};

RunRecord run_of(double step_time) {
  RunRecord run;
  run.figures = {{"step_time", "", step_time}, {"compute", "rank 0", 7}};
  return run;
}

TEST(History, HoldsWhatTheRunsTellOfTheJob) {
  const std::vector<RunRecord> head{run_of(400), run_of(404)};
  const nlohmann::ordered_json json = to_history(one_of_each(), head, kStamp);
  EXPECT_EQ(json["schema"], "lockstep.history/1");
  EXPECT_EQ(json["time"], kStamp.time);
  EXPECT_EQ(json["commit"], "4d8abace");
  EXPECT_EQ(json["outcome"], "fail");
  ASSERT_EQ(json["figures"].size(), 1U) << "a rank's figure is none of the job's";
  EXPECT_EQ(json["figures"]["step_time"]["mean"], 402);
  EXPECT_NEAR(json["figures"]["step_time"]["deviation"], 2.8284, 1e-4);
  EXPECT_EQ(json["figures"]["step_time"]["runs"], 2);
  const nlohmann::ordered_json one =
      to_history(one_of_each(), std::vector{run_of(400)}, {.time = "t", .commit = ""});
  EXPECT_TRUE(one["figures"]["step_time"]["deviation"].is_null());
  EXPECT_TRUE(one["commit"].is_null());
}

TEST(History, BencherGetsAMeasureAFigure) {
  Verdict verdict = one_of_each();
  verdict.figures[1].rule.scope = "rank 3";
  verdict.figures[1].head.deviation.reset();
  const nlohmann::ordered_json json = to_bencher(verdict, "nanogpt");
  EXPECT_EQ(json["nanogpt"]["step_time"]["value"], 440e6);
  EXPECT_EQ(json["nanogpt"]["step_time"]["lower_value"], 439e6);
  EXPECT_EQ(json["nanogpt"]["step_time"]["upper_value"], 441e6);
  EXPECT_EQ(json["nanogpt: rank 3"]["compute"], nlohmann::ordered_json({{"value", 400e6}}));
  EXPECT_EQ(json.size(), 2U) << "what is missing has no value";
}

TEST(History, OtavaGetsALineACheck) {
  Verdict verdict = one_of_each();
  verdict.figures.resize(4);
  const std::string first = append_to_otava("", verdict, kStamp).value();
  EXPECT_EQ(first.substr(0, first.find('\n')),
            "time,commit,step_time,compute,overlap_ratio,busbw of group <a|b>\x1b[31m");
  EXPECT_THAT(first, HasSubstr("\n2026-11-28T01:21:54Z,4d8abace,440000000,400000000,0.58,\n"));
  const std::string second = append_to_otava(first, verdict, kStamp).value();
  EXPECT_EQ(second, first + first.substr(first.find('\n') + 1));
  EXPECT_EQ(append_to_otava(first.substr(0, first.size() - 1), verdict, kStamp).value(), second)
      << "a last line without its end";
  verdict.figures[3].rule.scope = "group a, \"b\"";
  EXPECT_FALSE(append_to_otava(first, verdict, kStamp).ok());
  EXPECT_THAT(append_to_otava("", verdict, kStamp).value(), HasSubstr(",\"busbw of group a, \"\"b\"\"\"\n"));
}

}  // namespace
}  // namespace lockstep::analyzer
