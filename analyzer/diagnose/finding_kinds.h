// The table of all kinds of findings: a line here and one in finding_kinds.cpp for each file in kinds/.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding_kind.h"

namespace lockstep::analyzer {

// In the order in which they are applied, which is that of a report at equal loss: alarms first, what is left
// of a cause after all that accounts for it.
std::span<const FindingRule* const> finding_rules();
// All kinds, in the order of their rules.
std::span<const FindingKind* const> finding_kinds();
// nullptr if no kind has that code.
const FindingKind* find_finding_kind(std::string_view code);

namespace rules {

extern const FindingRule hang;
extern const FindingRule device_stuck;
extern const FindingRule job_failed;
extern const FindingRule job_interrupted;
extern const FindingRule mismatched_collectives;
extern const FindingRule cores_shared;
extern const FindingRule gpu_shared;
extern const FindingRule straggler;
extern const FindingRule uneven_batches;
extern const FindingRule bucket_sizes;
extern const FindingRule gathering;
extern const FindingRule reduce_scatter_exposed;
extern const FindingRule tensor_parallel_across_hosts;
extern const FindingRule p2p_slow_path;
extern const FindingRule nccl_connections;
extern const FindingRule no_overlap;
extern const FindingRule data_loading;
extern const FindingRule blocked_in_compute;
extern const FindingRule exposed_copies;
extern const FindingRule pipeline_bubble;
extern const FindingRule unbalanced_stages;
extern const FindingRule exposed_transfer;
extern const FindingRule jitter;
extern const FindingRule imbalance;
extern const FindingRule queued;
extern const FindingRule host_bound;
extern const FindingRule unexplained_idle;
extern const FindingRule outside_training;
extern const FindingRule clock_uncertain;
extern const FindingRule communication_unrecognised;

}  // namespace rules

}  // namespace lockstep::analyzer
