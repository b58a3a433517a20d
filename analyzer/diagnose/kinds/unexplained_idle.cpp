// Time that the trace does not explain.
#include <array>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kUnexplainedIdleRemedies =
    std::to_array<Remedy>({{"torch.profiler", "whole steps, with activities CPU and CUDA"},
                           {"the program", "ranges around data loading, checkpoints and evaluation"}});
constexpr Explanation kUnexplainedIdleExplained{
    .meaning = "Neither compute nor communication nor a known reason to idle.",
    .found = "`other` reaches 5 % of all time.",
    .wrong =
        "The time lies outside of the steps, or between two recordings: `lockstep view` shows it, --steps "
        "leaves it out.",
    .lost = "all of it",
    .remedies = kUnexplainedIdleRemedies,
};
constexpr FindingKind kUnexplainedIdle{
    .code = "unexplained_idle",
    .title = "time that the trace does not explain",
    .cause = Cause::other,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .explanation = &kUnexplainedIdleExplained,
};
constexpr auto kUnexplainedIdleKinds = std::to_array<const FindingKind*>({&kUnexplainedIdle});

void find_unexplained_idle(const FindingContext& context, std::vector<Finding>& findings) {
  if (!context.is_left_over(findings, Cause::other, context.total(Cause::other))) return;
  Finding finding = context.all_of_its_cause(kUnexplainedIdle);
  finding.remedy =
      "record launches and host ranges too: torch.profiler with activities CPU and CUDA, over whole "
      "steps";
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::unexplained_idle{kUnexplainedIdleKinds, find_unexplained_idle};

}  // namespace lockstep::analyzer
