#include "analyzer/html/evidence.h"

#include <algorithm>
#include <array>

#include "analyzer/diagnose/finding_kinds.h"

namespace lockstep::analyzer {
namespace {

// Where the finding is seen best, as an index into the report.
std::optional<std::size_t> collective_of(const Finding& finding, const Report& report) {
  if (!finding.place || !finding.place->collective) return std::nullopt;
  for (std::size_t i = 0; i < report.collectives.size(); ++i)
    if (report.collectives[i].id == *finding.place->collective) return i;
  return std::nullopt;
}

std::optional<std::size_t> pipeline_with(const Report& report, std::int32_t rank) {
  for (std::size_t i = 0; i < report.pipeline.size(); ++i) {
    const std::vector<PipelineStage>& stages = report.pipeline[i].stages_detail;
    if (std::any_of(stages.begin(), stages.end(),
                    [rank](const PipelineStage& stage) { return stage.rank == rank; }))
      return i;
  }
  return std::nullopt;
}

}  // namespace

const char* to_string(Picture picture) {
  static constexpr std::array<const char*, 6> kNames{"none",    "arrival", "stages",
                                                     "buckets", "batches", "cause"};
  return kNames[static_cast<std::size_t>(picture)];
}

DrawnEvidence evidence_of(const Finding& finding, const Report& report) {
  const FindingKind* const kind = find_finding_kind(finding.code);
  if (!finding.cause) return {};
  DrawnEvidence drawn;
  drawn.cause = *finding.cause;
  drawn.kind = Picture::cause;
  if (kind == nullptr) return drawn;
  const std::optional<std::int32_t>& rank = finding.rank;
  if (kind->picture == Picture::arrival && rank) {
    if (const auto worst = collective_of(finding, report)) {
      drawn.kind = Picture::arrival;
      drawn.collective = *worst;
      drawn.rank = *rank;
    }
  } else if (kind->picture == Picture::stages && rank) {
    if (const auto pipeline = pipeline_with(report, *rank)) {
      drawn.kind = Picture::stages;
      drawn.pipeline = *pipeline;
      drawn.rank = *rank;
    }
  } else if (kind->picture == Picture::buckets) {
    const auto bucket =
        std::find_if(report.buckets.begin(), report.buckets.end(),
                     [&](const BucketReport& one) { return one.operation == kind->bucket_operation; });
    if (bucket != report.buckets.end()) {
      drawn.kind = Picture::buckets;
      drawn.bucket = static_cast<std::size_t>(bucket - report.buckets.begin());
    }
  } else if (kind->picture == Picture::batches && !report.steps.empty()) {
    drawn.kind = Picture::batches;
  }
  return drawn;
}

}  // namespace lockstep::analyzer
