#include "analyzer/html/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/report/sample_reports.h"

namespace lockstep::analyzer {
namespace {

using Kind = Picture;
using testing::ElementsAre;

Finding finding(const std::string& code, std::optional<Cause> cause = std::nullopt,
                std::optional<std::int32_t> rank = std::nullopt) {
  Finding one;
  one.code = code;
  one.cause = cause;
  one.rank = rank;
  return one;
}

TEST(Evidence, AStragglersIsItsWorstCollective) {
  Report report = small_report();
  report.collectives.push_back(report.collectives[0]);
  report.findings[0].place->collective = report.collectives.back().id = 7;
  const DrawnEvidence drawn = evidence_of(report.findings[0], report);
  EXPECT_EQ(drawn.kind, Kind::arrival);
  EXPECT_EQ(drawn.collective, 2u);
  EXPECT_EQ(drawn.rank, 2);
  // Nothing waited for rank 0: its waiting is drawn, rank by rank.
  const DrawnEvidence other = evidence_of(finding("straggler_persistent", Cause::barrier_wait, 0), report);
  EXPECT_EQ(other.kind, Kind::cause);
  EXPECT_EQ(other.cause, Cause::barrier_wait);
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
  EXPECT_EQ(drawn.kind, Kind::stages);
  EXPECT_EQ(drawn.pipeline, 1u);
  EXPECT_EQ(drawn.rank, 3);
}

TEST(Evidence, BucketFindingsShowTheirOwnOperation) {
  Report report = small_report();
  report.buckets[1].operation = Operation::all_gather;
  EXPECT_EQ(evidence_of(finding("buckets_too_large", Cause::transfer), report).bucket, 0u);
  const DrawnEvidence gathers = evidence_of(finding("prefetch_off", Cause::transfer), report);
  EXPECT_EQ(gathers.kind, Kind::buckets);
  EXPECT_EQ(gathers.bucket, 1u);
  // No reduce-scatter is known by step.
  const DrawnEvidence scatters = evidence_of(finding("reduce_scatter_exposed", Cause::transfer), report);
  EXPECT_EQ(scatters.kind, Kind::cause);
  EXPECT_EQ(scatters.cause, Cause::transfer);
}

TEST(Evidence, TheRestIsACauseOrNothing) {
  const Report report = small_report();
  EXPECT_EQ(evidence_of(finding("data_loading", Cause::data_wait), report).cause, Cause::data_wait);
  EXPECT_EQ(evidence_of(finding("host_bound", Cause::host_bound), report).cause, Cause::host_bound);
  EXPECT_EQ(evidence_of(finding("uneven_batches", Cause::barrier_wait), report).kind, Kind::batches);
  for (const char* code : {"hang", "device_stuck", "job_failed", "mismatched_collectives", "clock_uncertain"})
    EXPECT_EQ(evidence_of(finding(code), report).kind, Kind::none) << code;
}

}  // namespace
}  // namespace lockstep::analyzer
