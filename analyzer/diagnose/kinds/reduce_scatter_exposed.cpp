// The last gradients of a step are scattered when nothing is left to compute.
#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/sharded_steps.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kReduceScatterExposedRemedies = std::to_array<Remedy>(
    {{"FSDP",
      "units of a layer each, the embedding in one of its own; MixedPrecision(reduce_dtype=torch.bfloat16)"},
     {"DeepSpeed", "a smaller reduce_bucket_size; communication_data_type: bfp16"}});
constexpr Explanation kReduceScatterExposedExplained{
    .meaning =
        "The first layer's gradients are the last; their reduce-scatter has no backward to hide under.",
    .found = "The exposed transfer of each step's last reduce-scatter reaches 3 % of all time.",
    .wrong = "The last reduce-scatter is as small as a layer, and the link slow: then see slow_link.",
    .lost = "that transfer",
    .remedies = kReduceScatterExposedRemedies,
};
constexpr FindingKind kReduceScatterExposed{
    .code = "reduce_scatter_exposed",
    .title = "the last gradients of a step are scattered when nothing is left to compute",
    .cause = Cause::transfer,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "buckets",
    .bucket_operation = Operation::reduce_scatter,
    .explanation = &kReduceScatterExposedExplained,
};
constexpr auto kReduceScatterExposedKinds = std::to_array<const FindingKind*>({&kReduceScatterExposed});

constexpr std::int64_t kScatterPermille = 30;

void find_late_scatters(const FindingContext& context, std::vector<Finding>& findings) {
  if (transfer_totals(context.report).mostly_doubtful()) return;
  const std::optional<LastScatters> last = look_at_last_scatters(context.report, context.activations);
  if (!last || !context.is_worth(last->exposed_ns, kScatterPermille)) return;
  Finding finding = kReduceScatterExposed.make();
  finding.evidence = {fmt::format(
      "of the {} a step, {} of {} is exposed, over all ranks and steps",
      last->per_step == 1 ? "one reduce_scatter"
                          : fmt::format("last of {} reduce_scatters", format_count(last->per_step)),
      format_duration(last->exposed_ns), format_duration(last->transfer_ns))};
  finding.remedy =
      "make the last one small: FSDP units of a layer each, the embedding in one of its own; DeepSpeed: a "
      "smaller reduce_bucket_size; gradients in bfloat16 (MixedPrecision(reduce_dtype=torch.bfloat16), "
      "communication_data_type)";
  finding.lost_ns = last->exposed_ns;
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::reduce_scatter_exposed{kReduceScatterExposedKinds, find_late_scatters};

}  // namespace lockstep::analyzer
