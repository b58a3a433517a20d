// Jobs that shard their parameters gather them too late, hold them back, or gather for nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/sharded_steps.h"
#include "analyzer/report/quantity.h"
#include "analyzer/steps/iterations.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kPrefetchOffRemedies =
    std::to_array<Remedy>({{"FSDP", "backward_prefetch=BackwardPrefetch.BACKWARD_PRE, forward_prefetch=True"},
                           {"FSDP2", "set_modules_to_forward_prefetch(), set_modules_to_backward_prefetch()"},
                           {"DeepSpeed", "overlap_comm: true, stage3_prefetch_bucket_size above 0"},
                           {"Megatron", "--overlap-param-gather"}});
constexpr Explanation kPrefetchOffExplained{
    .meaning =
        "FSDP and ZeRO-3 gather each layer's parameters before it runs. Gathered ahead, under the layer "
        "before, they cost nothing.",
    .found =
        "Four all-gathers a step or more in the group that gathers longest, in a job that also has reduce-scatters or "
        "ranges of FSDP, or trains nothing; compute covers less than 10 % of "
        "them, or fewer than a third of them for a quarter of their time; what of their exposed transfer the ranks' free compute could cover reaches 5 % of all time. "
        "Groups of tensor parallelism (tp, tensor, sp or sequence in their name or description, or reduce-scatters in "
        "the forward passes of most steps) are left "
        "out, and those in which no computation begins between one all-gather and the next (ZeRO's stages 1 "
        "and 2). On CPUs, where FSDP waits for an all-gather where it is issued, the title says only that compute waits.",
    .wrong =
        "The all-gathers depend on the layer before them (tensor parallelism in a group whose name does not say so, and "
        "which scatters nothing in forward passes).",
    .lost = "their exposed transfer, at most the compute that hides nothing yet",
    .remedies = kPrefetchOffRemedies,
};
constexpr FindingKind kPrefetchOff{
    .code = "prefetch_off",
    .title = "parameters are gathered only when a layer waits for them",
    .cause = Cause::transfer,
    .accounts = Accounts::yes,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "buckets",
    .bucket_operation = Operation::all_gather,
    .says_nothing_is_hidden = true,
    .explanation = &kPrefetchOffExplained,
};
constexpr auto kPrefetchShallowRemedies = std::to_array<Remedy>(
    {{"FSDP", "forward_prefetch=True; FSDP2: set_modules_to_forward_prefetch() with two layers"},
     {"DeepSpeed", "stage3_prefetch_bucket_size and stage3_max_live_parameters twice as large"},
     {"the job", "a larger microbatch: more compute for the same parameters"}});
constexpr Explanation kPrefetchShallowExplained{
    .meaning = "An all-gather that takes longer than the layer it hides under is exposed for the rest.",
    .found =
        "As prefetch_off, but compute covers between 10 % and 75 % of the all-gathers, and a third of them or "
        "more for a quarter of their time.",
    .wrong =
        "The stream of all-gathers is never idle: then the link is full, and gathering earlier moves "
        "nothing.",
    .lost = "their exposed transfer, at most the compute that hides nothing yet",
    .remedies = kPrefetchShallowRemedies,
};
constexpr FindingKind kPrefetchShallow{
    .code = "prefetch_shallow",
    .title = "parameters are gathered ahead, but not far enough: compute waits for them",
    .cause = Cause::transfer,
    .accounts = Accounts::within_hosts,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "buckets",
    .bucket_operation = Operation::all_gather,
    .explanation = &kPrefetchShallowExplained,
};
constexpr auto kAllGathersThrottledRemedies =
    std::to_array<Remedy>({{"FSDP", "limit_all_gathers=False, where memory allows; smaller units"},
                           {"DeepSpeed", "a larger stage3_max_live_parameters"}});
constexpr Explanation kAllGathersThrottledExplained{
    .meaning =
        "FSDP's limit_all_gathers and DeepSpeed's stage3_max_live_parameters make the host wait before it "
        "gathers more, so that memory stays bounded; the next layer may then wait for it.",
    .found =
        "Before half of the all-gathers and more the host launched nothing for at least 100 µs, and went on "
        "within 100 µs of the end of something on its device; the exposed transfer of these, at most as long "
        "as the host was silent, reaches 3 %. Where synchronization was recorded, half of the silence is "
        "that. Not on CPUs, nor where prefetch_off is found.",
    .wrong =
        "The host waited there for something else (.item(), a print of the loss): see its thread on the "
        "timeline.",
    .lost = "the exposed transfer of those all-gathers, at most the host's silence before each",
    .remedies = kAllGathersThrottledRemedies,
};
constexpr FindingKind kAllGathersThrottled{
    .code = "all_gathers_throttled",
    .title = "the host holds parameter gathering back until memory is free",
    .cause = Cause::transfer,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "buckets",
    .bucket_operation = Operation::all_gather,
    .explanation = &kAllGathersThrottledExplained,
};
constexpr auto kShardingNotNeededRemedies = std::to_array<Remedy>(
    {{"FSDP", "sharding_strategy=SHARD_GRAD_OP or NO_SHARD; FSDP2: reshard_after_forward=False"},
     {"DeepSpeed", "stage 2 or 1; stage3_param_persistence_threshold above the layers' sizes"}});
constexpr Explanation kShardingNotNeededExplained{
    .meaning =
        "Sharding parameters saves memory and costs an all-gather of all of them, twice a step. A model that "
        "fits needs neither.",
    .found =
        "All that is gathered in a step, as parameters of 16 bytes each (weights, gradients and Adam's state "
        "in mixed precision), is at most 8 GiB; the exposed transfer of the all-gathers reaches 5 %. Not on "
        "CPUs.",
    .wrong =
        "Activations take the memory that is left: then gather, but shard the optimizer alone (stage 1).",
    .lost = "the exposed transfer of the all-gathers",
    .remedies = kShardingNotNeededRemedies,
};
constexpr FindingKind kShardingNotNeeded{
    .code = "sharding_not_needed",
    .title = "parameters are gathered in every step although each rank could keep them all",
    .cause = Cause::transfer,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "buckets",
    .bucket_operation = Operation::all_gather,
    .explanation = &kShardingNotNeededExplained,
};
constexpr auto kGatheringKinds = std::to_array<const FindingKind*>(
    {&kPrefetchOff, &kPrefetchShallow, &kAllGathersThrottled, &kShardingNotNeeded});

constexpr std::int64_t kGatherPermille = 50;
constexpr std::int64_t kHeldBackPermille = 30;
constexpr double kHardlyCovered = 0.10;
constexpr double kMostlyCovered = 0.75;
// Weights, gradients and Adam's state in mixed precision: 2 + 2 + 4 + 4 + 4 (Rajbhandari et al., ZeRO, 2020).
constexpr std::int64_t kBytesPerParameter = 16;
// Less than the memory of any accelerator that such jobs run on.
constexpr std::int64_t kFitsAnywhere = std::int64_t{8} << 30;

std::string describe(const Gathering& gathering) {
  std::string text = fmt::format("{} a step", format_plural(gathering.per_step, "all_gather"));
  if (gathering.bytes_per_step > 0)
    text += fmt::format(", {} together", format_bytes(gathering.bytes_per_step));
  return text + fmt::format(" (medians of {})", format_plural(gathering.steps, "step"));
}

std::string coverage(const Gathering& gathering) {
  return fmt::format("compute covers {} of the {} that they take ({}); {} of transfer is exposed",
                     format_duration(gathering.covered_ns), format_duration(gathering.all_ns),
                     format_share(gathering.covered_ns, gathering.all_ns),
                     format_duration(gathering.exposed_ns));
}

// Σ over ranks of compute that hides nothing yet: what gathering earlier could use.
std::int64_t free_compute(const Report& report) {
  std::int64_t sum = 0;
  for (const RankReport& rank : report.ranks)
    if (rank.measures.known) sum = saturating_add(sum, rank.measures.compute_alone_ns());
  return sum;
}

Finding finding_of(const Gathering& gathering, const FindingKind& kind, std::int64_t lost) {
  Finding finding = kind.make();
  finding.evidence = {describe(gathering), coverage(gathering)};
  finding.lost_ns = lost;
  return finding;
}

void find_late_gathers(const FindingContext& context, const Gathering& gathering,
                       std::vector<Finding>& findings) {
  const std::int64_t lost = std::min(gathering.exposed_ns, free_compute(context.report));
  if (gathering.all_ns == 0 || !context.is_worth(lost, kGatherPermille)) return;
  const double covered = static_cast<double>(gathering.covered_ns) / static_cast<double>(gathering.all_ns);
  if (covered >= kMostlyCovered) return;
  // On a CPU some lie under the end of the pass before by the delay of a thread that waits for a core.
  const bool none = covered < kHardlyCovered || 3 * gathering.ahead < gathering.records;
  Finding finding = finding_of(gathering, none ? kPrefetchOff : kPrefetchShallow, lost);
  if (context.on_cpu) {
    // There an all-gather that was issued ahead is waited for as well as one that was not.
    finding.title = "compute waits while parameters are gathered";
    finding.remedy =
        "on CPUs FSDP and FSDP2 wait for each all-gather where they issue it, whatever is prefetched: gather less "
        "often (SHARD_GRAD_OP, reshard_after_forward=False), in larger units, or compute more in a step; DeepSpeed "
        "stage 3: overlap_comm = true and stage3_prefetch_bucket_size above 0";
    findings.push_back(std::move(finding));
    return;
  }
  finding.remedy =
      none ? "FSDP(backward_prefetch=BackwardPrefetch.BACKWARD_PRE, forward_prefetch=True); FSDP2: "
             "set_modules_to_forward_prefetch and set_modules_to_backward_prefetch; DeepSpeed stage "
             "3: overlap_comm = true and stage3_prefetch_bucket_size above 0; Megatron: "
             "--overlap-param-gather"
           : "gather further ahead: FSDP(forward_prefetch=True), FSDP2's "
             "set_modules_to_forward_prefetch with two layers, DeepSpeed's "
             "stage3_prefetch_bucket_size and stage3_max_live_parameters twice as large; where the "
             "link is full all the time, gather less: HYBRID_SHARD, zero_hpz_partition_size, a "
             "larger microbatch";
  findings.push_back(std::move(finding));
}

void find_throttled_gathers(const FindingContext& context, const Gathering& gathering,
                            std::vector<Finding>& findings) {
  // What is not gathered ahead at all needs no holding back.
  if (any_of_kind(findings, kPrefetchOff)) return;
  // Of half of them at least, so that it is how the job works and no accident.
  if (gathering.all_gathers == 0 || 2 * gathering.held_back < gathering.all_gathers) return;
  if (!context.is_worth(gathering.held_back_ns, kHeldBackPermille)) return;
  Finding finding = finding_of(gathering, kAllGathersThrottled, gathering.held_back_ns);
  finding.evidence.push_back(fmt::format(
      "before {} of {} the host launched nothing, and went on when something on its device was over",
      format_count(gathering.held_back), format_plural(gathering.all_gathers, "all_gather")));
  finding.remedy =
      "where memory allows: FSDP(limit_all_gathers=False), DeepSpeed's stage3_max_live_parameters larger; "
      "else smaller FSDP units, so that two of them take less";
  findings.push_back(std::move(finding));
}

void find_needless_gathers(const FindingContext& context, const Gathering& gathering,
                           std::vector<Finding>& findings) {
  if (gathering.bytes_per_step == 0 || !context.is_worth(gathering.exposed_ns, kGatherPermille)) return;
  // Each parameter is gathered once a step at least, so that these are not fewer than all.
  const std::int64_t element = std::max<std::int64_t>(1, trace::size_in_bytes(gathering.data_type));
  const std::int64_t parameters = gathering.bytes_per_step / element;
  if (parameters > kFitsAnywhere / kBytesPerParameter) return;
  const std::int64_t needed = parameters * kBytesPerParameter;
  Finding finding = finding_of(gathering, kShardingNotNeeded, gathering.exposed_ns);
  finding.evidence.push_back(fmt::format(
      "at most {} parameters: kept whole with gradients and Adam's state in mixed precision ({} bytes each) "
      "they take {} a rank at most",
      format_count(parameters), kBytesPerParameter, format_bytes(needed)));
  finding.remedy =
      "FSDP(sharding_strategy=SHARD_GRAD_OP or NO_SHARD), FSDP2: fully_shard(reshard_after_forward=False); "
      "DeepSpeed: stage 2 or 1, or a stage3_param_persistence_threshold above the layers' sizes; `lockstep "
      "train --mode ddp`";
  findings.push_back(std::move(finding));
}

// What a program that trains gathers are parameters where gradients are scattered as well, or ranges of FSDP
// say so: gradients that were made small, metrics and samples are gathered, too.
bool gathers_parameters(const FindingContext& context) {
  const Job& job = context.diagnosis.job;
  if (std::ranges::any_of(context.report.collectives, [](const CollectiveReport& collective) {
        return collective.operation == Operation::reduce_scatter;
      }))
    return true;
  if (std::ranges::all_of(job.ranks,
                          [&job](const RankTrace& rank) { return only_infers(rank, job.strings); }))
    return true;
  return std::ranges::any_of(job.ranks, [&job](const RankTrace& rank) {
    return std::ranges::any_of(rank.host_ranges, [&job](const HostRange& range) {
      return job.strings.view(range.name).starts_with("FSDP::");
    });
  });
}

void find_gathering_losses(const FindingContext& context, std::vector<Finding>& findings) {
  if (transfer_totals(context.report).mostly_doubtful() || !gathers_parameters(context)) return;
  if (const std::optional<Gathering> gathering =
          look_at_gathering(context.diagnosis, context.report, context.activations)) {
    find_late_gathers(context, *gathering, findings);
    // Of a CPU lane the host and the device are one, and its memory is the machine's.
    if (!context.on_cpu) {
      find_throttled_gathers(context, *gathering, findings);
      find_needless_gathers(context, *gathering, findings);
    }
  }
}

}  // namespace

const FindingRule rules::gathering{kGatheringKinds, find_gathering_losses};

}  // namespace lockstep::analyzer
