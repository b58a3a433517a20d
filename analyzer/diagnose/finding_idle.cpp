// Findings that follow from the partition alone: data loading, a slow host, copies in the way.
#include <fmt/format.h>

#include "analyzer/diagnose/finding_rules.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kDataPermille = 20;
constexpr std::int64_t kHostPermille = 100;
constexpr std::int64_t kCopyPermille = 30;

Finding finding_of(const FindingContext& context, Cause cause, std::string code, std::string title) {
  Finding finding;
  finding.code = std::move(code);
  finding.title = std::move(title);
  finding.evidence.push_back(context.evidence_of(cause));
  finding.lost_ns = context.total(cause);
  return finding;
}

}  // namespace

void find_data_loading(const FindingContext& context, std::vector<Finding>& findings) {
  if (!context.is_worth(context.total(Cause::data_wait), kDataPermille)) return;
  Finding finding =
      finding_of(context, Cause::data_wait, "data_loading",
                 context.on_cpu ? "ranks wait for their data" : "devices idle while their rank loads data");
  finding.remedy = context.on_cpu ? "DataLoader(num_workers=N, prefetch_factor=4, persistent_workers=True), "
                                    "with N cores that the ranks "
                                    "do not compute on: load the next batch while this one is computed"
                                  : "DataLoader(num_workers=8, prefetch_factor=4, persistent_workers=True, "
                                    "pin_memory=True): load the "
                                    "next batch while this one is computed";
  findings.push_back(std::move(finding));
}

bool launches_are_known(const FindingContext& context) {
  std::int64_t gaps = 0, without_launch = 0;
  for (const RankTimeline::Gaps& rank : context.diagnosis.gaps) {
    gaps += rank.count;
    without_launch += rank.without_launch;
  }
  return without_launch * 10 <= gaps;
}

void find_host_bound(const FindingContext& context, std::vector<Finding>& findings) {
  // On a CPU lane the host and the device are one: time between computations is not a launch that came late.
  if (context.on_cpu || !context.is_worth(context.total(Cause::host_bound), kHostPermille)) return;
  if (!launches_are_known(context)) return;  // cannot be told
  Finding finding = finding_of(context, Cause::host_bound, "host_bound", kHostBoundTitle);
  finding.remedy = kHostBoundRemedy;
  findings.push_back(std::move(finding));
}

void find_exposed_copies(const FindingContext& context, std::vector<Finding>& findings) {
  if (!context.is_worth(context.total(Cause::copy), kCopyPermille)) return;
  Finding finding = finding_of(context, Cause::copy, "exposed_copies", "nothing runs but copies of memory");
  finding.remedy =
      "pin_memory=True and `.to(device, non_blocking=True)` on a stream of its own, one batch ahead; "
      "DeepSpeed's offloading: pin_memory = true in offload_param and offload_optimizer";
  findings.push_back(std::move(finding));
}

}  // namespace lockstep::analyzer
