// Ranks that compute on one GPU: often a call of torch.cuda.set_device() that is missing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/shared_gpus.h"
#include "analyzer/model/gpus.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kGpuSharedRemedies = std::to_array<Remedy>(
    {{"PyTorch",
      "`torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))` before anything else uses the GPU"},
     {"the launcher",
      "a GPU for each rank: torchrun's --nproc-per-node, Slurm's --gpus-per-task, CUDA_VISIBLE_DEVICES"},
     {"the machine",
      "where ranks have to share one: NVIDIA's Multi-Process Service (`nvidia-cuda-mps-control -d`) lets "
      "kernels of several processes run at once"}});
constexpr Explanation kGpuSharedExplained{
    .meaning =
        "Several ranks of a host compute on the same GPU. Without NVIDIA's Multi-Process Service it runs one "
        "process at a time, for a few milliseconds each: a kernel's duration holds the time in which it "
        "stood still, and which rank is late is in good part the GPU's choice. So a rank is called late only "
        "by what its host works longer than the others', where that is a third or more, or by what it computes "
        "beyond the turns: of k ranks, what it computed while another had work on the GPU counts as a k-th, and "
        "all that each other one computed in the step is taken off.",
    .found = "The driver gives the devices of two ranks of one host the same UUID (recorded since 0.1.0).",
    .wrong =
        "The ranks use several GPUs each, and only the first of them is the same. Of a rank that is late by "
        "what it computes: the Multi-Process Service ran (`nvidia-cuda-mps-control`), under which kernels get "
        "no equal turns.",
    .lost =
        "their waiting in collectives beyond what their hosts explain; and what they had launched and their "
        "GPU did not run for 20 µs or more while a kernel or copy of another of them was on it, at most "
        "`queued`",
    .remedies = kGpuSharedRemedies,
};
constexpr FindingKind kGpuShared{
    .code = "gpu_shared",
    .title = "ranks share a GPU",
    .cause = Cause::queued,
    .accounts = Accounts::yes,
    .accuses = Accused::host,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .explanation = &kGpuSharedExplained,
};
constexpr auto kGpuSharedKinds = std::to_array<const FindingKind*>({&kGpuShared});

// "0 and 1", "0, 1, 2 and 5 more".
std::string list(const std::vector<const RankTrace*>& ranks) {
  constexpr std::size_t kShown = 3;
  std::string text;
  const std::size_t shown = ranks.size() <= kShown + 1 ? ranks.size() : kShown;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == ranks.size();
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", ranks[i]->rank);
  }
  return shown == ranks.size() ? text : fmt::format("{} and {} more", text, ranks.size() - shown);
}

// Within the report's windows of the rank: its GPU did nothing of it, and a launch had returned.
IntervalSet launched_and_idle(const RankTrace& rank, const IntervalSet& busy, const Report& report) {
  const std::int64_t origin = report.origin_aligned_ns;
  // A launch takes some µs to get to a GPU that has nothing else to do.
  constexpr Nanoseconds kLatency = 20'000;
  std::vector<Interval> pending, windows;
  for (const Activity& activity : rank.activities)
    if (is_on_gpu(rank, activity) && activity.launch_end != kUnknownTime)
      pending.push_back({activity.launch_end, activity.begin});
  for (const StepReport& step : report.steps)
    if (step.rank == rank.rank) windows.push_back({step.begin_ns + origin, step.end_ns + origin});
  for (const RankReport& one : report.ranks)
    if (one.rank == rank.rank && report.steps.empty())
      windows.push_back({one.begin_ns + origin, one.end_ns + origin});
  IntervalSet waits;
  const IntervalSet idle = subtract(IntervalSet::from(std::move(pending)), busy);
  for (const Interval& gap : idle.intervals())
    if (gap.end - gap.begin >= kLatency) waits.append(gap.begin, gap.end);
  return intersect(waits, IntervalSet::from(std::move(windows)));
}

std::int64_t queued_of(const Report& report, std::int32_t rank) {
  for (const RankReport& one : report.ranks)
    if (one.rank == rank) return one.measures.partition[Cause::queued];
  return 0;
}

Finding make_finding(const FindingContext& context, const std::vector<const RankTrace*>& ranks) {
  std::vector<IntervalSet> busy;
  busy.reserve(ranks.size());
  for (const RankTrace* rank : ranks) busy.push_back(on_the_gpu(*rank));
  Finding finding = kGpuShared.make();
  std::int64_t most = 0;
  std::int32_t most_of = ranks.front()->rank;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    IntervalSet others;
    for (std::size_t k = 0; k < ranks.size(); ++k)
      if (k != i) others = unite(others, busy[k]);
    const std::int64_t waited =
        std::min(intersect(launched_and_idle(*ranks[i], busy[i], context.report), others).measure(),
                 queued_of(context.report, ranks[i]->rank));
    finding.lost_ns = saturating_add(finding.lost_ns, waited);
    if (waited > most) most_of = ranks[i]->rank;
    most = std::max(most, waited);
  }
  const std::string host = ranks.front()->host.empty() ? "" : fmt::format(" of {}", ranks.front()->host);
  finding.title = fmt::format("ranks {}{} share one GPU", list(ranks), host);
  finding.evidence.push_back(
      fmt::format("{} of them have {}", ranks.size() == 2 ? "both" : "all", ranks.front()->device_uuid));
  if (finding.lost_ns > 0)
    finding.evidence.push_back(fmt::format(
        "work that was launched stood still for {} while another rank's was on the GPU, most on rank {}: {}",
        format_duration(finding.lost_ns), most_of, format_duration(most)));
  if (const std::int64_t both = at_once(busy).measure(); both > 0)
    finding.evidence.push_back(fmt::format(
        "for {} two of them or more had work on it at once: without the Multi-Process Service each "
        "stands still for a part of that, and what it runs seems to take longer",
        format_duration(both)));
  finding.evidence.push_back(
      "how long a kernel takes, and who is late, is then the GPU's choice in part: of these ranks one is "
      "called late only by what its host works longer, or by what it computes beyond all that turns on the GPU "
      "can explain");
  finding.remedy =
      "give each rank a GPU: `torch.cuda.set_device(local_rank)`, Slurm's --gpus-per-task; where they must "
      "share it, `nvidia-cuda-mps-control -d` lets their kernels run at once";
  return finding;
}

void find_gpu_shared(const FindingContext& context, std::vector<Finding>& findings) {
  std::int64_t waiting = context.behind_gpu(findings);
  for (const std::vector<const RankTrace*>& ranks : ranks_that_share_gpus(context.diagnosis.job)) {
    Finding finding = make_finding(context, ranks);
    // Of all that share one, told of once.
    if (waiting > 0) {
      finding.lost_ns = saturating_add(finding.lost_ns, waiting);
      finding.evidence.push_back(
          fmt::format("ranks that share one waited for each other in collectives for {}, and whose "
                      "doing that was can't be told",
                      format_duration(waiting)));
      waiting = 0;
    }
    findings.push_back(std::move(finding));
  }
}

}  // namespace

const FindingRule rules::gpu_shared{kGpuSharedKinds, find_gpu_shared};

}  // namespace lockstep::analyzer
