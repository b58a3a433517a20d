#include "analyzer/diagnose/finding_kinds.h"

#include <algorithm>
#include <array>

namespace lockstep::analyzer {
namespace {

constexpr auto kRules = std::to_array<const FindingRule*>({
    &rules::device_stuck,  // what stands still is why others hang
    &rules::hang,
    &rules::job_failed,
    &rules::mismatched_collectives,
    &rules::job_interrupted,
    &rules::cores_shared,
    &rules::straggler,
    &rules::gpu_shared,  // what is no rank's doing
    &rules::uneven_batches,
    &rules::bucket_sizes,
    &rules::gathering,
    &rules::reduce_scatter_exposed,
    &rules::tensor_parallel_across_hosts,
    &rules::p2p_slow_path,
    &rules::nccl_connections,
    &rules::no_overlap,  // after the buckets and the gathering
    &rules::data_loading,
    &rules::blocked_in_compute,
    &rules::exposed_copies,
    &rules::pipeline_bubble,
    &rules::unbalanced_stages,
    // What is left: the greatest losses are never without a word.
    &rules::exposed_transfer,
    &rules::jitter,
    &rules::imbalance,
    &rules::queued,
    &rules::host_bound,
    &rules::unexplained_idle,
    &rules::outside_training,
    &rules::clock_uncertain,
    &rules::communication_unrecognised,
});

}  // namespace

std::span<const FindingRule* const> finding_rules() {
  return kRules;
}

std::span<const FindingKind* const> finding_kinds() {
  static const std::vector<const FindingKind*> kAll = [] {
    std::vector<const FindingKind*> all;
    for (const FindingRule* rule : kRules) all.insert(all.end(), rule->kinds.begin(), rule->kinds.end());
    return all;
  }();
  return kAll;
}

const FindingKind* find_finding_kind(std::string_view code) {
  const std::span<const FindingKind* const> all = finding_kinds();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const FindingKind* kind) { return kind->code == code; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace lockstep::analyzer
