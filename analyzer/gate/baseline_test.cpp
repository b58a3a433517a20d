#include "analyzer/gate/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

Baseline two_runs() {
  Baseline baseline{.lockstep_version = "0.1.0", .saved = "2026-11-27", .runs = {}};
  for (const double step_time : {400e6, 401e6}) {
    RunRecord run;
    run.path = "run";
    run.start_ns = static_cast<std::int64_t>(step_time);
    run.setting = {.world_size = 2, .hosts = 1, .devices = {"cpu"}};
    run.steps = 50;
    run.figures = {{"step_time", "", step_time}, {"compute", "rank 1", 0.1 + 0.2}};
    baseline.runs.push_back(run);
  }
  return baseline;
}

TEST(Baseline, ComesBackToTheLastBit) {
  const Result<Baseline> read = parse_baseline(to_text(two_runs()), "main.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().saved, "2026-11-27");
  ASSERT_EQ(read.value().runs.size(), 2U);
  EXPECT_EQ(read.value().runs[1].of("step_time", ""), 401e6);
  EXPECT_EQ(read.value().runs[0].of("compute", "rank 1"), 0.1 + 0.2);
}

// Two of them differ in the lines of the figures that differ.
TEST(Baseline, HasAFigureALine) {
  const std::string text = to_text(two_runs());
  EXPECT_THAT(text, HasSubstr("\n     \"\": 400000000.0"));
  EXPECT_EQ(text.back(), '\n');
}

TEST(Baseline, OfAnythingElseNamesTheFile) {
  const auto error_of = [](const std::string& text) {
    const Result<Baseline> read = parse_baseline(text, "main.json");
    return read.ok() ? "none" : read.error().message;
  };
  EXPECT_EQ(error_of("{"), "main.json: it is no baseline: no JSON object");
  EXPECT_EQ(error_of("[]"), "main.json: it is no baseline: no JSON object");
  EXPECT_THAT(error_of(R"({"schema": "lockstep.baseline/9"})"),
              HasSubstr("its schema is \"lockstep.baseline/9\", and this version reads lockstep.baseline/1"));
  EXPECT_THAT(error_of(R"({"schema": "lockstep.baseline/1"})"), HasSubstr("main.json: "));
  EXPECT_EQ(
      error_of(R"({"schema": "lockstep.baseline/1", "lockstep_version": "1", "saved": "x", "runs": []})"),
      "main.json: there is no run in it");
  EXPECT_THAT(
      error_of(R"({"schema": "lockstep.baseline/1", "lockstep_version": "1", "saved": "x", "runs": [7]})"),
      HasSubstr("a run is no object"));
}

TEST(Baseline, IsToldFromARun) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("main.json", to_text(two_runs()));
  EXPECT_TRUE(is_baseline(path));
  EXPECT_TRUE(read_baseline(path).ok());
  EXPECT_FALSE(is_baseline(folder.path().string()));
  EXPECT_FALSE(is_baseline(folder / "none.json"));
  EXPECT_THAT(read_baseline(folder / "none.json").error().message, HasSubstr("there is no such file"));
  EXPECT_FALSE(is_baseline(folder.write("trace.json", R"({"schemaVersion": 1})")));
}

}  // namespace
}  // namespace lockstep::analyzer
