#include "analyzer/html/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/html/assets.h"
#include "analyzer/report/sample_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

Finding finding(const std::string& code, std::optional<Cause> cause = std::nullopt,
                std::optional<std::int32_t> rank = std::nullopt) {
  Finding one;
  one.code = code;
  one.cause = cause;
  one.rank = rank;
  return one;
}

DrawnEvidence evidence_of(const Finding& finding, const Report& report) {
  return evidence_of(finding, report, GroupNumbers(report));
}

// "" where nothing is drawn.
std::string_view picture_of(const DrawnEvidence& drawn) {
  return drawn.picture == nullptr ? "" : drawn.picture->name;
}

TEST(Evidence, AStragglersIsItsWorstCollective) {
  Report report = small_report();
  report.collectives.push_back(report.collectives[0]);
  report.findings[0].place->collective = report.collectives.back().id = 7;
  const DrawnEvidence drawn = evidence_of(report.findings[0], report);
  EXPECT_EQ(picture_of(drawn), "arrival");
  EXPECT_EQ(drawn.data.collective, 2u);
  EXPECT_EQ(drawn.data.members["rank"], 2);
  // Nothing waited for rank 0: its waiting is drawn, rank by rank.
  const DrawnEvidence other = evidence_of(finding("straggler_persistent", Cause::barrier_wait, 0), report);
  EXPECT_EQ(picture_of(other), "cause");
}

TEST(Evidence, StagesAreOfThePipelineThatTheRankIsIn) {
  Report report = small_report();
  report.pipeline.resize(2);
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    PipelineStage stage;
    stage.stage = rank % 2;
    stage.rank = rank;
    report.pipeline[static_cast<std::size_t>(rank / 2)].stages_detail.push_back(stage);
  }
  const DrawnEvidence drawn = evidence_of(finding("unbalanced_stages", Cause::pipeline_bubble, 3), report);
  EXPECT_EQ(picture_of(drawn), "stages");
  EXPECT_EQ(drawn.data.members["pipeline"], 1);
  EXPECT_EQ(drawn.data.members["rank"], 3);
}

TEST(Evidence, BucketFindingsShowTheirOwnOperation) {
  Report report = small_report();
  report.buckets[1].operation = Operation::all_gather;
  const DrawnEvidence reduces = evidence_of(finding("buckets_too_large", Cause::transfer), report);
  EXPECT_EQ(reduces.data.members["operation"], "all_reduce");
  EXPECT_EQ(reduces.data.members["group"], 0);
  const DrawnEvidence gathers = evidence_of(finding("prefetch_off", Cause::transfer), report);
  EXPECT_EQ(picture_of(gathers), "buckets");
  EXPECT_EQ(gathers.data.members["operation"], "all_gather");
  // No reduce-scatter is known by step.
  const DrawnEvidence scatters = evidence_of(finding("reduce_scatter_exposed", Cause::transfer), report);
  EXPECT_EQ(picture_of(scatters), "cause");
}

TEST(Evidence, AHostsCoresAreEachRanksWaitingForOne) {
  Report report = small_report();
  EXPECT_EQ(picture_of(evidence_of(finding("cores_shared"), report)), "");
  report.ranks[1].measures.run_queue_ns = 300;
  const DrawnEvidence drawn = evidence_of(finding("cores_shared"), report);
  EXPECT_EQ(picture_of(drawn), "core_waits");
  const auto expected =
      nlohmann::json::array({{report.ranks[1].rank, 300, report.ranks[1].measures.window_ns}});
  EXPECT_EQ(nlohmann::json(drawn.data.members["waits"]), expected);
}

TEST(Evidence, TheRestIsACauseOrNothing) {
  const Report report = small_report();
  EXPECT_EQ(picture_of(evidence_of(finding("data_loading", Cause::data_wait), report)), "cause");
  EXPECT_EQ(picture_of(evidence_of(finding("no_such_code", Cause::host_bound), report)), "cause");
  EXPECT_EQ(picture_of(evidence_of(finding("uneven_batches", Cause::barrier_wait), report)), "batches");
  for (const char* code : {"hang", "device_stuck", "job_failed", "mismatched_collectives", "clock_uncertain"})
    EXPECT_EQ(picture_of(evidence_of(finding(code), report)), "") << code;
}

TEST(Evidence, EachKindNamesAPictureThatThereIs) {
  for (const FindingKind* const kind : finding_kinds()) {
    if (kind->picture.empty()) continue;
    EXPECT_NE(find_picture(kind->picture), nullptr) << kind->code;
  }
  EXPECT_EQ(find_picture(""), nullptr);
}

// Data and drawing have one name, that of their files.
TEST(Evidence, EachPictureIsDrawn) {
  const std::string script(html_assets::kScript);
  std::set<std::string> data, drawings, names;
  for (const auto& entry :
       std::filesystem::directory_iterator(LOCKSTEP_SOURCE_DIR "/analyzer/html/pictures")) {
    const std::string name = entry.path().stem().string();
    if (name.ends_with("_test")) continue;
    (entry.path().extension() == ".js" ? drawings : data).insert(name);
  }
  for (const Picture* const picture : all_pictures()) {
    const std::string name(picture->name);
    names.insert(name);
    EXPECT_THAT(script, HasSubstr("\npictures." + name + " = ")) << name;
  }
  EXPECT_EQ(data, names);
  EXPECT_EQ(drawings, names);
}

}  // namespace
}  // namespace lockstep::analyzer
