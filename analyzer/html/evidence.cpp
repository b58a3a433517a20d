#include "analyzer/html/evidence.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace lockstep::analyzer {
namespace {

using Kind = DrawnEvidence::Kind;

// What a finding of this code is about, where that is more than its cause.
struct Subject {
  Kind kind = Kind::cause;
  Operation operation = Operation::unknown;  // of buckets
};

const std::map<std::string_view, Subject>& subjects() {
  static const std::map<std::string_view, Subject> kSubjects{
      {"straggler", {Kind::arrival}},
      {"straggler_persistent", {Kind::arrival}},
      {"straggler_transient", {Kind::arrival}},
      {"straggler_periodic", {Kind::arrival}},
      {"slow_link_of_rank", {Kind::arrival}},
      {"unbalanced_stages", {Kind::stages}},
      {"uneven_batches", {Kind::batches}},
      {"buckets_too_large", {Kind::buckets, Operation::all_reduce}},
      {"buckets_too_small", {Kind::buckets, Operation::all_reduce}},
      {"first_bucket_late", {Kind::buckets, Operation::all_reduce}},
      {"prefetch_off", {Kind::buckets, Operation::all_gather}},
      {"prefetch_shallow", {Kind::buckets, Operation::all_gather}},
      {"all_gathers_throttled", {Kind::buckets, Operation::all_gather}},
      {"sharding_not_needed", {Kind::buckets, Operation::all_gather}},
      {"reduce_scatter_exposed", {Kind::buckets, Operation::reduce_scatter}},
  };
  return kSubjects;
}

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

const char* to_string(Kind kind) {
  static constexpr std::array<const char*, 6> kNames{"none",    "arrival", "stages",
                                                     "buckets", "batches", "cause"};
  return kNames[static_cast<std::size_t>(kind)];
}

DrawnEvidence evidence_of(const Finding& finding, const Report& report) {
  if (!finding.cause) return {};
  const auto found = subjects().find(finding.code);
  const Subject subject = found == subjects().end() ? Subject{} : found->second;
  DrawnEvidence drawn;
  drawn.cause = *finding.cause;
  drawn.kind = Kind::cause;
  const std::optional<std::int32_t>& rank = finding.rank;
  if (subject.kind == Kind::arrival && rank) {
    if (const auto worst = collective_of(finding, report)) {
      drawn.kind = Kind::arrival;
      drawn.collective = *worst;
      drawn.rank = *rank;
    }
  } else if (subject.kind == Kind::stages && rank) {
    if (const auto pipeline = pipeline_with(report, *rank)) {
      drawn.kind = Kind::stages;
      drawn.pipeline = *pipeline;
      drawn.rank = *rank;
    }
  } else if (subject.kind == Kind::buckets) {
    const auto bucket =
        std::find_if(report.buckets.begin(), report.buckets.end(),
                     [&](const BucketReport& one) { return one.operation == subject.operation; });
    if (bucket != report.buckets.end()) {
      drawn.kind = Kind::buckets;
      drawn.bucket = static_cast<std::size_t>(bucket - report.buckets.begin());
    }
  } else if (subject.kind == Kind::batches && !report.steps.empty()) {
    drawn.kind = Kind::batches;
  }
  return drawn;
}

}  // namespace lockstep::analyzer
