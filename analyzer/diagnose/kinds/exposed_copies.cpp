// Nothing runs but copies of memory. What to do depends on from where to where they go.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/idle_gaps.h"
#include "analyzer/intervals/interval_set.h"
#include "analyzer/model/copy_kind.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kExposedCopiesRemedies = std::to_array<Remedy>(
    {{"PyTorch, host to device",
      "pin_memory=True and .to(device, non_blocking=True) on a stream of its own, one batch ahead"},
     {"PyTorch, device to host",
      "no .item(), .cpu() or print(tensor) in the step; into pinned memory with non_blocking=True, read a "
      "step later"},
     {"PyTorch, within the device",
      "DDP(gradient_as_bucket_view=True); no .contiguous(), .clone() and torch.cat of large tensors"},
     {"PyTorch, fills",
      "optimizer.zero_grad(set_to_none=True); torch.empty where everything is written anyway"},
     {"DeepSpeed", "pin_memory: true in offload_param and offload_optimizer"}});
constexpr Explanation kExposedCopiesExplained{
    .meaning =
        "Copies between host and device, or within it, with nothing beside them. The evidence says which "
        "kind takes most; what helps against one does nothing for another.",
    .found =
        "`copy` reaches 3 % of all time. What is advised goes by the kind of copy (pageable or pinned memory "
        "of the host, direction, fill) that takes most of the time beside nothing else.",
    .wrong = "The copies run beside kernels on the timeline.",
    .lost = "all of it",
    .remedies = kExposedCopiesRemedies,
};
constexpr FindingKind kExposedCopies{
    .code = "exposed_copies",
    .title = "nothing runs but copies of memory",
    .cause = Cause::copy,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .explanation = &kExposedCopiesExplained,
};
constexpr auto kExposedCopiesKinds = std::to_array<const FindingKind*>({&kExposedCopies});

constexpr std::int64_t kCopyPermille = 30;

using TimeByKind = std::array<std::int64_t, kCopyKinds>;

// Each kind's time in the rank's steps in which it neither computes nor communicates. Two kinds at once count
// for both.
void add_exposed(const Job& job, const RankTrace& rank, const IntervalSet& windows, TimeByKind& sums) {
  IntervalSet busy;
  std::array<IntervalSet, kCopyKinds> copies;
  for (const Activity& activity : rank.activities) {
    if (activity.activity_class == Class::copy) {
      const auto kind = static_cast<std::size_t>(copy_kind(job.strings.view(activity.name)));
      copies[kind].append(activity.begin, activity.end);
    } else if (activity.activity_class != Class::sync) {
      busy.append(activity.begin, activity.end);
    }
  }
  for (std::size_t kind = 0; kind < copies.size(); ++kind)
    sums[kind] += intersect(subtract(copies[kind], busy), windows).measure();
}

const char* remedy_against(CopyKind kind) {
  switch (kind) {
    case CopyKind::pinned_to_device:
      return "the host's memory is pinned already: `.to(device, non_blocking=True)` on a stream of its own, "
             "one batch (or, of offloaded parameters, one layer) ahead";
    case CopyKind::device_to_host:
    case CopyKind::device_to_pageable:
      return "no .item(), .cpu() or print(tensor) in the step; what must go to the host: into pinned memory "
             "with non_blocking=True, and read a step later";
    case CopyKind::device_to_pinned:
      return "the host's memory is pinned already: copy on a stream of its own beside the backward pass "
             "(offloading: overlap_comm; checkpoints: an asynchronous one), and move less often";
    case CopyKind::device_to_device:
      return "DistributedDataParallel(gradient_as_bucket_view=True); no .contiguous(), .clone() and "
             "torch.cat of large tensors; torch.compile fuses what is left";
    case CopyKind::fill:
      return "optimizer.zero_grad(set_to_none=True); torch.empty instead of torch.zeros where everything is "
             "written anyway";
    case CopyKind::other:
      return "see on the timeline what is copied, and let it run beside computation, on a stream of its own";
    case CopyKind::host_to_device:
    case CopyKind::pageable_to_device:
      break;
  }
  return "pin_memory=True and `.to(device, non_blocking=True)` on a stream of its own, one batch ahead; "
         "DeepSpeed's offloading: pin_memory = true in offload_param and offload_optimizer";
}

void find_exposed_copies(const FindingContext& context, std::vector<Finding>& findings) {
  if (!context.is_worth(context.total(Cause::copy), kCopyPermille)) return;
  Finding finding = context.all_of_its_cause(kExposedCopies);
  TimeByKind sums{};
  for (const RankTrace& rank : context.diagnosis.job.ranks)
    add_exposed(context.diagnosis.job, rank, windows_of(rank, context.report), sums);
  std::vector<std::size_t> order;
  for (std::size_t kind = 0; kind < sums.size(); ++kind)
    if (sums[kind] > 0) order.push_back(kind);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sums[a] > sums[b]; });
  std::string kinds;
  for (const std::size_t kind : order)
    kinds += fmt::format("{}{}: {}", kinds.empty() ? "" : ", ", in_words(static_cast<CopyKind>(kind)),
                         format_duration(sums[kind]));
  if (!kinds.empty()) finding.evidence.push_back(std::move(kinds));
  finding.remedy =
      remedy_against(order.empty() ? CopyKind::host_to_device : static_cast<CopyKind>(order.front()));
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::exposed_copies{kExposedCopiesKinds, find_exposed_copies};

}  // namespace lockstep::analyzer
