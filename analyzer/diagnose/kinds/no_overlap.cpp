// Nothing computes while communication runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/knobs.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kNoOverlapRemedies = std::to_array<Remedy>(
    {{"DDP", "DistributedDataParallel instead of one all_reduce after backward; bucket_cap_mb=25"},
     {"FSDP", "backward_prefetch=BACKWARD_PRE, forward_prefetch=True, limit_all_gathers=True"},
     {"DeepSpeed", "overlap_comm: true, contiguous_gradients: true"},
     {"Megatron", "--overlap-grad-reduce, --overlap-param-gather, --tp-comm-overlap"},
     {"pipelines", "isend, irecv, batch_isend_irecv; Megatron: --overlap-p2p-communication"}});
constexpr Explanation kNoOverlapExplained{
    .meaning = "Communication and computation take turns, although one could hide the other.",
    .found =
        "Compute covers at most 1 % of communication, and the exposed transfer that it could cover reaches 5 "
        "% of all time. What the root of a broadcast or a scatter waits for its last receiver counts as transfer "
        "(docs/metrics.md) and is left out here.",
    .wrong =
        "The operations depend on each other: there is no computation that could run meanwhile (tensor "
        "parallelism within a layer).",
    .lost =
        "the exposed transfer that compute could cover, without the time in which roots of broadcasts and scatters "
        "wait for their last receiver",
    .remedies = kNoOverlapRemedies,
};
constexpr FindingKind kNoOverlap{
    .code = "no_overlap",
    .title = "communication and compute take turns: nothing is hidden",
    .cause = Cause::transfer,
    .accounts = Accounts::yes,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "cause",
    .explanation = &kNoOverlapExplained,
};
constexpr auto kNoOverlapKinds = std::to_array<const FindingKind*>({&kNoOverlap});

constexpr std::int64_t kOverlapPermille = 50;
constexpr double kHardlyHidden = 0.01;

// Whether a rule before has said it, and what to do.
bool is_said(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    const FindingKind* const kind = find_finding_kind(finding.code);
    return kind != nullptr && kind->says_nothing_is_hidden;
  });
}

void find_lack_of_overlap(const FindingContext& context, std::vector<Finding>& findings) {
  if (is_said(findings)) return;
  std::int64_t communication = 0, overlap = 0;
  for (const RankReport& rank : context.report.ranks) {
    if (!rank.measures.known) continue;
    communication = saturating_add(communication, rank.measures.communication_ns);
    overlap = saturating_add(overlap, rank.measures.overlap_ns);
  }
  const std::int64_t lost = context.coverable_transfer();
  if (communication == 0 || context.report.ranks.size() < 2) return;
  // Waiting for ranks without a record would look like transfer, and isn't cured by overlap.
  if (transfer_totals(context.report).mostly_doubtful()) return;
  if (static_cast<double>(overlap) > kHardlyHidden * static_cast<double>(communication)) return;
  if (!context.is_worth(lost, kOverlapPermille)) return;
  Finding finding = kNoOverlap.make();
  finding.evidence = {
      fmt::format("compute covers {} of {} of communication ({})", format_duration(overlap),
                  format_duration(communication), format_share(overlap, communication)),
      fmt::format("compute could cover at most {} of exposed transfer", format_duration(lost))};
  if (overlap > 0) finding.title = "communication and compute take turns: next to nothing is hidden";
  if (std::string left_out = context.describe_root_waits(); !left_out.empty())
    finding.evidence.push_back(std::move(left_out));
  const OverlapKnobs knobs = overlap_knobs(context.report, context.activations, context.roots);
  // DDP starts its broadcasts of buffers itself, right before they are used.
  if (knobs.start_earlier.empty() && knobs.broadcasts_little)
    finding.remedy = fmt::format("broadcast less: {}", kFewerSmallBroadcasts);
  else
    finding.remedy = fmt::format(
        "start communication before its result is needed: {}{}async_op=True with wait() at the first use{}{}",
        knobs.start_earlier, knobs.start_earlier.empty() ? "" : "; ",
        knobs.broadcasts_little ? "; of small broadcasts fewer: " : "",
        knobs.broadcasts_little ? kFewerSmallBroadcasts : "");
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::no_overlap{kNoOverlapKinds, find_lack_of_overlap};

}  // namespace lockstep::analyzer
