// Inside diagnose: one function per kind of finding. Each adds what it finds, with lost_ns; the shares are
// filled in later.
#pragma once

#include <string>
#include <vector>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct FindingContext {
  const Diagnosis& diagnosis;
  const Report& report;
  std::int64_t all_windows_ns = 0;  // Σ over ranks
  bool on_cpu = false;  // every rank computes on the CPU; a paced device stands for an accelerator
  ScheduledWaits scheduled{diagnosis.job, report};  // nobody's lateness

  std::int64_t total(Cause cause) const;
  // At least this many thousandths of all windows.
  bool is_worth(std::int64_t lost_ns, std::int64_t permille) const;
  // "most on rank 3: 1.20 s; least on rank 0: 3.00 ms", or of one rank "2.31 s of 9.60 s".
  std::string evidence_of(Cause cause) const;
};

// Median of the compute of a pipeline's stages; the lower one of an even number. There is a stage.
std::int64_t median_compute(const PipelineReport& pipeline);
// A stage that computes this much is out of balance.
bool computes_too_much(std::int64_t compute_ns, std::int64_t median_ns);

void find_stragglers(const FindingContext& context, std::vector<Finding>& findings);
void find_uneven_batches(const FindingContext& context, std::vector<Finding>& findings);
void find_sharding_losses(const FindingContext& context, std::vector<Finding>& findings);
// Groups on the wrong side of a slow link, and messages that take a detour.
void find_placement(const FindingContext& context, std::vector<Finding>& findings);
// Over which ways ranks talk, where a log of NCCL says it.
void find_slow_ways(const FindingContext& context, std::vector<Finding>& findings);
void find_bucket_sizes(const FindingContext& context, std::vector<Finding>& findings);
void find_lack_of_overlap(const FindingContext& context,
                          std::vector<Finding>& findings);  // after the buckets and the sharding
void find_data_loading(const FindingContext& context, std::vector<Finding>& findings);
inline constexpr const char* kHostBoundTitle =
    "devices idle because the host has not launched their next work yet";
inline constexpr const char* kHostBoundRemedy =
    "torch.compile(mode=\"reduce-overhead\") or CUDA graphs: fewer and earlier launches; remove .item(), "
    ".cpu() and torch.cuda.synchronize() from the step";
// Of nine gaps in ten at least: then it can be told whether the host was late.
bool launches_are_known(const FindingContext& context);
void find_host_bound(const FindingContext& context, std::vector<Finding>& findings);
void find_exposed_copies(const FindingContext& context, std::vector<Finding>& findings);
void find_pipeline_losses(const FindingContext& context, std::vector<Finding>& findings);
// The greatest losses are never left without a word: those that no finding before explains.
void find_unexplained_losses(const FindingContext& context, std::vector<Finding>& findings);
// Goes first, whatever else was lost: a job that hangs loses everything.
void find_hang(const FindingContext& context, std::vector<Finding>& findings);
// A job that ended with an error: which rank ended first, and what the others were in.
void find_failure(const FindingContext& context, std::vector<Finding>& findings);
// Before what costs time: such a job hangs or computes nonsense.
void find_mismatches(const FindingContext& context, std::vector<Finding>& findings);
void find_uncertain_clocks(const FindingContext& context, std::vector<Finding>& findings);

}  // namespace lockstep::analyzer
