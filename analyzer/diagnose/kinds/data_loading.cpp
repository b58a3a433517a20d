// Devices wait for the next batch.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kDataLoadingRemedies = std::to_array<Remedy>(
    {{"DataLoader", "num_workers, prefetch_factor, persistent_workers=True, pin_memory=True"},
     {"the program", "decoding and augmenting on the GPU, or ahead of time; data on local disks"}});
constexpr Explanation kDataLoadingExplained{
    .meaning = "The training loop is in its data loader while nothing runs on the device.",
    .found =
        "`data_wait` reaches 2 % of all time, without what a late rank loads longer than the others: idle, and a "
        "host thread of the rank is inside a range of data loading.",
    .wrong = "The time is in the first steps only, while workers start: select later steps with --steps.",
    .lost = "all of it, less what a late rank loads longer than the others",
    .remedies = kDataLoadingRemedies,
};
constexpr FindingKind kDataLoading{
    .code = "data_loading",
    .title = "devices wait for the next batch",
    .cause = Cause::data_wait,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .explanation = &kDataLoadingExplained,
};
constexpr auto kDataLoadingKinds = std::to_array<const FindingKind*>({&kDataLoading});

constexpr std::int64_t kDataPermille = 20;

void find_data_loading(const FindingContext& context, std::vector<Finding>& findings) {
  const std::int64_t all = context.total(Cause::data_wait);
  if (!context.is_worth(all, kDataPermille)) return;
  const std::int64_t of_late_ranks = context.said_of_late_ranks(findings, Cause::data_wait);
  // What is left beside a late rank's own loading may be next to nothing.
  if (!context.is_worth(all - std::min(all, of_late_ranks), kDataPermille)) return;
  Finding finding = context.all_of_its_cause(kDataLoading);
  finding.lost_ns = all - std::min(all, of_late_ranks);
  if (of_late_ranks > 0)
    finding.evidence.push_back(fmt::format(
        "{} of that is what a late rank loads longer than the others, and is not counted as lost here",
        format_duration(of_late_ranks)));
  finding.has_core_waits = context.on_cpu;
  finding.title = context.on_cpu ? "ranks wait for their data" : "devices idle while their rank loads data";
  finding.remedy = context.on_cpu ? "DataLoader(num_workers=N, prefetch_factor=4, persistent_workers=True), "
                                    "with N cores that the ranks do not compute on: load the next batch "
                                    "while this one is computed"
                                  : "DataLoader(num_workers=8, prefetch_factor=4, persistent_workers=True, "
                                    "pin_memory=True): load the next batch while this one is computed";
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::data_loading{kDataLoadingKinds, find_data_loading};

}  // namespace lockstep::analyzer
