// Findings about jobs that shard their parameters: gathered too late, held back, or for nothing; scattered
// too late.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/diagnose/finding_rules.h"
#include "analyzer/diagnose/sharded_steps.h"
#include "analyzer/intervals/time_math.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kGatherPermille = 50;
constexpr std::int64_t kScatterPermille = 30;
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

Finding finding_of(const Gathering& gathering, const char* code_of_it, const char* title, std::int64_t lost) {
  Finding finding;
  finding.code = code_of_it;
  finding.title = title;
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
  const bool none = covered < kHardlyCovered;
  Finding finding =
      none ? finding_of(gathering, "prefetch_off", "parameters are gathered only when a layer waits for them",
                        lost)
           : finding_of(gathering, "prefetch_shallow",
                        "parameters are gathered ahead, but not far enough: compute waits for them", lost);
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
  const bool prefetches = std::none_of(findings.begin(), findings.end(),
                                       [](const Finding& finding) { return finding.code == "prefetch_off"; });
  if (!prefetches) return;
  // Of half of them at least, so that it is how the job works and no accident.
  if (gathering.all_gathers == 0 || 2 * gathering.held_back < gathering.all_gathers) return;
  if (!context.is_worth(gathering.held_back_ns, kHeldBackPermille)) return;
  Finding finding =
      finding_of(gathering, "all_gathers_throttled",
                 "the host holds parameter gathering back until memory is free", gathering.held_back_ns);
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
  Finding finding = finding_of(gathering, "sharding_not_needed",
                               "parameters are gathered in every step although each rank could keep them all",
                               gathering.exposed_ns);
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

}  // namespace

void find_sharding_losses(const FindingContext& context, std::vector<Finding>& findings) {
  if (transfer_totals(context.report).mostly_doubtful()) return;
  if (const std::optional<Gathering> gathering = look_at_gathering(context.diagnosis, context.report)) {
    find_late_gathers(context, *gathering, findings);
    // Of a CPU lane the host and the device are one, and its memory is the machine's.
    if (!context.on_cpu) {
      find_throttled_gathers(context, *gathering, findings);
      find_needless_gathers(context, *gathering, findings);
    }
  }
  const std::optional<LastScatters> last = look_at_last_scatters(context.report);
  if (!last || !context.is_worth(last->exposed_ns, kScatterPermille)) return;
  Finding finding;
  finding.code = "reduce_scatter_exposed";
  finding.title = "the last gradients of a step are scattered when nothing is left to compute";
  finding.evidence = {fmt::format("of the last of {} a step, {} of {} is exposed, over all ranks and steps",
                                  format_plural(last->per_step, "reduce_scatter"),
                                  format_duration(last->exposed_ns), format_duration(last->transfer_ns))};
  finding.remedy =
      "make the last one small: FSDP units of a layer each, the embedding in one of its own; DeepSpeed: a "
      "smaller reduce_bucket_size; gradients in bfloat16 (MixedPrecision(reduce_dtype=torch.bfloat16), "
      "communication_data_type)";
  finding.lost_ns = last->exposed_ns;
  findings.push_back(std::move(finding));
}

}  // namespace lockstep::analyzer
